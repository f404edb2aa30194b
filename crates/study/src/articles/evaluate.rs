//! The evaluation of formulas.

use rsalab_measure::Estimate;

use super::{
    cell::{Cell, Value, exact},
    data::Field,
    evidence::Evidence,
    formula::Formula,
    scope::Scope,
};

/// A number that was stated, or one that was measured.
#[derive(Clone, Copy)]
pub(super) enum Quantity {
    Number(f64),
    Measured(Estimate),
}

impl Quantity {
    /// As a measured value.
    fn estimate(self) -> Estimate {
        match self {
            Quantity::Measured(estimate) => estimate,
            Quantity::Number(number) => exact(number),
        }
    }
}

impl<'a> Evidence<'a> {
    /// The scope of a call: what is set for it, what was in scope, and what the cells say that it names.
    fn scope_of(&self, set: &[(String, String)], arguments: &[Formula], scope: &Scope) -> Scope {
        let mut inner = scope.clone();
        set.iter().for_each(|(name, word)| inner.set(name, word));
        let cells = arguments.iter().filter_map(|argument| match argument {
            Formula::Call { name, .. } => self.data.cells.get(name),
            _ => None,
        });
        for (name, field) in cells.flatten() {
            let word = match field {
                Field::Fixed(word) => Some(&word.0),
                Field::ByDirection(words) => words.get(inner.word("direction")).map(|word| &word.0),
            };
            if let Some(word) = word.filter(|_| !inner.words.contains_key(name)) {
                inner.set(name, word);
            }
        }
        inner
    }

    /// The cell that a call's arguments name: `pair, threads = 2`.
    pub(super) fn named_cell(&self, arguments: &str, scope: &Scope) -> Result<Cell<'a>, String> {
        let Formula::Call { set, arguments, .. } = Formula::parse(&format!("cell({arguments})")) else {
            unreachable!("it is a call");
        };
        self.cell(&self.scope_of(&set, &arguments, scope))
    }

    /// The value of a formula, as a measured one.
    pub(super) fn measured(&self, formula: &str, scope: &Scope) -> Value {
        self.quantity(formula, scope).map(Quantity::estimate)
    }

    /// The value of a formula.
    pub(super) fn quantity(&self, formula: &str, scope: &Scope) -> Result<Quantity, String> {
        self.work_out(&Formula::parse(&scope.formula(formula)), scope)
    }

    fn work_out(&self, formula: &Formula, scope: &Scope) -> Result<Quantity, String> {
        use Quantity::{Measured, Number};
        let both =
            |[left, right]: &[Formula; 2]| Ok::<_, String>((self.work_out(left, scope)?, self.work_out(right, scope)?));
        Ok(match formula {
            Formula::Number(number) => Number(*number),
            Formula::Call { name, set, arguments } => return self.call(name, set, arguments, scope),
            Formula::Sum(parts) => {
                let parts = parts.iter().map(|part| self.work_out(part, scope));
                sum(&parts.collect::<Result<Vec<_>, _>>()?)
            }
            Formula::Difference(parts) => match both(parts)? {
                (left, Number(right)) => sum(&[left, Number(-right)]),
                _ => panic!("only a number is subtracted: measured values are compared by their quotient"),
            },
            Formula::Product(parts) => match both(parts)? {
                (Number(left), Number(right)) => Number(left * right),
                (Measured(value), Number(factor)) | (Number(factor), Measured(value)) => Measured(value.scaled(factor)),
                _ => panic!("measured values are not multiplied"),
            },
            Formula::Quotient(parts) => match both(parts)? {
                (Number(left), Number(right)) => Number(left / right),
                (Measured(left), Number(right)) => Measured(left.scaled(1.0 / right)),
                (Number(left), Measured(right)) => Measured(right.reciprocal().scaled(left)),
                (Measured(left), Measured(right)) => Measured(left.over(&right)),
            },
        })
    }

    fn call(
        &self,
        name: &str,
        set: &[(String, String)],
        arguments: &[Formula],
        outer: &Scope,
    ) -> Result<Quantity, String> {
        if arguments.is_empty() {
            return self.named(name, set, outer);
        }
        let quantity = |place: usize| self.work_out(&arguments[place], outer);
        let measured = |place: usize| quantity(place).map(Quantity::estimate);
        let value = match name {
            "saved" => saved_percent(&measured(0)?),
            "half_width" => {
                let of = measured(0)?;
                exact((of.high - of.low) / 2.0 / of.value)
            }
            "or" => return quantity(0).or_else(|_| quantity(1)),
            "lesser" => match (measured(0), measured(1)) {
                (Ok(left), Ok(right)) if right.value < left.value => right,
                (Ok(left), _) => left,
                (Err(_), right) => right?,
            },
            "most" => match arguments {
                [Formula::Call { name: list, .. }, of] => self.most(list, of, outer)?,
                _ => panic!("'most' takes a list and a formula"),
            },
            _ => self.of_cell(name, &self.scope_of(set, arguments, outer))?,
        };
        Ok(Quantity::Measured(value))
    }

    /// A value in scope, or a formula of the article with its own settings.
    fn named(&self, name: &str, set: &[(String, String)], scope: &Scope) -> Result<Quantity, String> {
        if let Some(estimate) = scope.quantities.get(name) {
            return Ok(Quantity::Measured(*estimate));
        }
        if let Some(formula) = self.data.formulas.get(name) {
            return self.quantity(formula, &self.scope_of(set, &[], scope));
        }
        let word = scope.words.get(name).map_or(name, String::as_str);
        let number = match self.number(word) {
            Some(count) => count? as f64,
            None => word
                .parse()
                .unwrap_or_else(|_| panic!("'{name}' is no number, formula or value")),
        };
        Ok(Quantity::Number(number))
    }

    /// The most that a formula comes to over the values of the list that is called as the name that takes them.
    fn most(&self, list: &str, of: &Formula, scope: &Scope) -> Value {
        let mut best: Value = Err(format!("{} is not measured yet", scope.word("engine")));
        for entry in self.list(list) {
            let mut scope = scope.clone();
            scope.set(list, &entry[0]);
            let value = self.work_out(of, &scope).map(Quantity::estimate);
            best = match (best, value) {
                (Ok(best), Ok(value)) if value.value > best.value => Ok(value),
                (Ok(best), _) => Ok(best),
                (Err(_), value) => value,
            };
        }
        best
    }

    /// A property of the cell in scope.
    fn of_cell(&self, property: &str, scope: &Scope) -> Value {
        let of = |name: &str, word: &str| {
            let mut scope = scope.clone();
            scope.set(name, word);
            self.cell(&scope)
        };
        match property {
            // How many times as fast as another an engine is.
            "speed" => {
                let base = scope.word("base");
                let this = self.cell(scope)?;
                Ok(this.speed(of("engine", base)?))
            }
            // How many times as fast as one thread several are. One thread compared with itself is no measurement.
            "speedup" => {
                let one = of("threads", "1")?.median_ns();
                match scope.word("threads") {
                    "1" => Ok(Estimate { n: one.n, ..exact(1.0) }),
                    _ => Ok(one.over(&self.cell(scope)?.median_ns())),
                }
            }
            _ => self.cell(scope)?.property(property),
        }
    }
}

/// A speed-up as the share of the time that it saves.
fn saved_percent(speed_up: &Estimate) -> Estimate {
    let saved = |speed_up: f64| 100.0 * (1.0 - 1.0 / speed_up);
    Estimate {
        value: saved(speed_up.value),
        low: saved(speed_up.low),
        high: saved(speed_up.high),
        ..*speed_up
    }
}

/// The sum of independent estimates: distances to the ends of intervals add in quadrature, as for a quotient.
fn sum(parts: &[Quantity]) -> Quantity {
    let mut number = 0.0;
    let mut estimates = Vec::new();
    for part in parts {
        match part {
            Quantity::Number(more) => number += more,
            Quantity::Measured(estimate) => estimates.push(*estimate),
        }
    }
    if estimates.is_empty() {
        return Quantity::Number(number);
    }
    let value = estimates.iter().map(|one| one.value).sum::<f64>() + number;
    let distance = |of: fn(&Estimate) -> f64| {
        let squares: f64 = estimates.iter().map(|one| of(one).powi(2)).sum();
        squares.sqrt()
    };
    Quantity::Measured(Estimate {
        value,
        low: value - distance(|one| one.value - one.low),
        high: value + distance(|one| one.high - one.value),
        confidence: estimates.iter().map(|one| one.confidence).fold(1.0, f64::min),
        n: estimates.iter().map(|one| one.n).min().unwrap_or(0),
    })
}
