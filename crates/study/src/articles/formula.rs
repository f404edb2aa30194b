//! Formulas: `median(one, direction = decryption) / median(one)`.
//!
//! ```text
//! sum      product {("+" | "-") product}
//! product  factor {("*" | "/") factor}
//! factor   number | name ["(" argument {"," argument} ")"] | "(" sum ")"
//! argument name "=" value | sum
//! ```
//!
//! Operators stand between spaces, since names have `-` in them.

use std::iter::Peekable;

/// A formula.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Formula {
    Number(f64),
    /// A value in scope, a named formula, or a function of its arguments.
    Call {
        name: String,
        /// Names that are set for this call.
        set: Vec<(String, String)>,
        arguments: Vec<Formula>,
    },
    Sum(Vec<Formula>),
    Difference(Box<[Formula; 2]>),
    Product(Box<[Formula; 2]>),
    Quotient(Box<[Formula; 2]>),
}

impl Formula {
    /// # Panics
    /// If the text is no formula: all are parts of this program.
    pub(super) fn parse(text: &str) -> Formula {
        let mut tokens = tokens(text).into_iter().peekable();
        let formula = sum(&mut tokens).filter(|_| tokens.peek().is_none());
        formula.unwrap_or_else(|| panic!("'{text}' is not a formula"))
    }
}

fn tokens(text: &str) -> Vec<String> {
    let mut tokens: Vec<String> = Vec::new();
    let mut is_open = false;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        // A minus belongs to a name or a number that goes on behind it.
        let is_inner = c == '-' && is_open && chars.peek().is_some_and(|next| next.is_alphanumeric());
        let is_part = c.is_alphanumeric() || matches!(c, '_' | ':' | '.') || is_inner;
        match tokens.last_mut().filter(|_| is_part && is_open) {
            Some(last) => last.push(c),
            None if c.is_whitespace() => {}
            None => tokens.push(c.to_string()),
        }
        is_open = is_part;
    }
    tokens
}

type Tokens = Peekable<std::vec::IntoIter<String>>;

fn sum(tokens: &mut Tokens) -> Option<Formula> {
    let mut left = product(tokens)?;
    while let Some(sign) = tokens.next_if(|token| token == "+" || token == "-") {
        let right = product(tokens)?;
        left = match (sign.as_str(), left) {
            ("+", Formula::Sum(mut parts)) => {
                parts.push(right);
                Formula::Sum(parts)
            }
            ("+", left) => Formula::Sum(vec![left, right]),
            (_, left) => Formula::Difference(Box::new([left, right])),
        };
    }
    Some(left)
}

fn product(tokens: &mut Tokens) -> Option<Formula> {
    let mut left = factor(tokens)?;
    while let Some(sign) = tokens.next_if(|token| token == "*" || token == "/") {
        let both = Box::new([left, factor(tokens)?]);
        left = match sign.as_str() {
            "*" => Formula::Product(both),
            _ => Formula::Quotient(both),
        };
    }
    Some(left)
}

fn factor(tokens: &mut Tokens) -> Option<Formula> {
    let token = tokens.next()?;
    if token == "(" {
        let inner = sum(tokens)?;
        return tokens.next_if_eq(")").map(|_| inner);
    }
    if let Ok(number) = token.parse() {
        return Some(Formula::Number(number));
    }
    if !token.starts_with(|c: char| c.is_alphabetic()) {
        return None;
    }
    let (mut set, mut arguments) = (Vec::new(), Vec::new());
    if tokens.next_if_eq("(").is_some() {
        loop {
            let argument = sum(tokens)?;
            match (&argument, tokens.next_if_eq("=")) {
                (Formula::Call { name, .. }, Some(_)) => set.push((name.clone(), tokens.next()?)),
                (_, Some(_)) => return None,
                (_, None) => arguments.push(argument),
            }
            match tokens.next()?.as_str() {
                "," => {}
                ")" => break,
                _ => return None,
            }
        }
    }
    Some(Formula::Call {
        name: token,
        set,
        arguments,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_may_have_signs_in_them() {
        let expected = [
            "speed",
            "(",
            "gpu:article",
            ",",
            "x",
            "=",
            "byte-shorter",
            ")",
            "*",
            "1e-6",
            "-",
            "at-large",
        ];
        assert_eq!(
            tokens("speed(gpu:article, x = byte-shorter) * 1e-6 - at-large"),
            expected
        );
    }

    #[test]
    fn products_bind_closer_than_sums_and_from_the_left() {
        let number = |value| Formula::Number(value);
        let both = |left, right| Box::new([left, right]);
        assert_eq!(
            Formula::parse("1 + 6 / 2 / 3 + (4 - 5)"),
            Formula::Sum(vec![
                number(1.0),
                Formula::Quotient(both(Formula::Quotient(both(number(6.0), number(2.0))), number(3.0))),
                Formula::Difference(both(number(4.0), number(5.0))),
            ])
        );
    }
}
