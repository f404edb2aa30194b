//! The claims of an article, each decided by its comparisons.

use rsalab_measure::Estimate;

use super::{
    data::{Also, CaseData, CaseEvaluator, ClaimData},
    evidence::{Evidence, replaced},
    scope::Scope,
};
use crate::report::{Case, Claim, Verdict};

/// The result of a comparison: a verdict, the value where there is one, and a sentence.
pub(super) type Judged = (Verdict, Option<Estimate>, String);

impl Evidence<'_> {
    /// Every claim, decided.
    pub(super) fn claims(&self) -> Vec<Claim> {
        self.data.claim.iter().map(|data| self.claim(data)).collect()
    }

    fn claim(&self, data: &'static ClaimData) -> Claim {
        let mut cases = Vec::new();
        for scope in self.each(&data.each, &Scope::default()) {
            data.cases
                .iter()
                .for_each(|list| cases.extend(self.cases(list, &scope)));
        }
        Claim::decided(data, cases)
    }

    fn cases(&self, data: &CaseData, scope: &Scope) -> Vec<Case> {
        let mut scope = Scope {
            judges: true,
            ..scope.with(&data.set)
        };
        if data.on_device {
            let device = self
                .data
                .device
                .as_ref()
                .expect("a claim about a device is of an article that names it");
            scope.set("engine", &device.engine);
            if let Some(reason) = self.lack_of_device(&device.engine) {
                return vec![case(&scope, "all of it".to_owned(), lacking(reason))];
            }
        }
        let mut cases: Vec<Case> = Vec::new();
        for scope in self.each(&data.each, &scope) {
            // What was not measured is passed over: growth is from the last that was.
            let of_engine = cases
                .iter()
                .rev()
                .take_while(|case| case.engine == scope.word("engine"));
            let before = of_engine.filter_map(|case| case.value.as_ref()).next();
            let judged = self.judged(data, &scope, before);
            let judged = judged.unwrap_or_else(|reason| lacking(replaced(&data.reasons, "", "", reason)));
            cases.push(case(&scope, self.fill(&data.case, &scope), judged));
        }
        if !data.growth.is_empty() {
            cases = with_lack_of_growth(cases, data);
        }
        cases
    }

    /// # Errors
    /// Why there is no value.
    fn judged(&self, data: &CaseData, scope: &Scope, before: Option<&Estimate>) -> Result<Judged, String> {
        for need in &data.needs {
            self.check(&need[0], scope)
                .map_err(|reason| need.get(1).map_or(reason, |template| self.fill(template, scope)))?;
        }
        match data.evaluator {
            Some(CaseEvaluator::ThreadsHurt) => return self.threads_hurt(scope),
            Some(CaseEvaluator::BestThreadCount) => return self.best_thread_count(scope),
            Some(CaseEvaluator::MostSaveHalf) => return self.most_save_half(scope),
            None => {}
        }
        let of_cells = |reason: String| match data.lacking.as_str() {
            "" => reason,
            template => self.fill(template, scope),
        };
        let mut scope = self.also(&data.also, scope).map_err(of_cells)?;
        let value = self.measured(&data.value, &scope).map_err(of_cells)?;
        scope.quantities.insert("value".to_owned(), value);
        let judged = match data.judge.as_str() {
            "" => value,
            formula => self.measured(formula, &scope)?,
        };
        let relation = data
            .relation
            .as_ref()
            .expect("a case without an evaluator has a relation");
        let mut verdict = self.judge(relation, &judged, before, &scope)?;
        let mut sentence = self.fill(&data.sentence, &scope);
        if let Ok(scope) = self.also(&data.more_also, &scope) {
            sentence += &self.fill(&data.more, &scope);
        }
        if !data.limit.is_empty() && !self.is_within_reach(data, &scope)? {
            verdict = Verdict::NotMeasurableHere;
            sentence += &self.fill(&data.beyond, &scope);
        }
        Ok((verdict, Some(value), sentence))
    }

    /// The scope with the values of more formulas.
    pub(super) fn also(&self, also: &Also, scope: &Scope) -> Result<Scope, String> {
        let mut scope = scope.clone();
        for (name, formula) in also {
            let value = self.measured(formula, &scope)?;
            scope.quantities.insert(name.clone(), value);
        }
        Ok(scope)
    }

    /// Returns whether the limit of a case is above what its relation asks for.
    fn is_within_reach(&self, data: &CaseData, scope: &Scope) -> Result<bool, String> {
        let Some(super::data::Relation::Reaches(published)) = &data.relation else {
            panic!("only what is to be reached has a limit");
        };
        Ok(self.measured(&data.limit, scope)?.value > self.measured(published, scope)?.value)
    }
}

/// Cases with one more for each engine that has one value: it shows no growth.
fn with_lack_of_growth(cases: Vec<Case>, data: &CaseData) -> Vec<Case> {
    let of_engine = |own: &[Case]| {
        let values = own.iter().filter(|case| case.value.is_some());
        let lack = (values.count() == 1).then(|| Case {
            case: data.growth.clone(),
            verdict: Verdict::NotMeasurableHere,
            sentence: "it takes two sizes".to_owned(),
            value: None,
            ..own[0].clone()
        });
        own.iter().cloned().chain(lack).collect::<Vec<Case>>()
    };
    let engines = cases.chunk_by(|one, other| one.engine == other.engine);
    engines.flat_map(of_engine).collect()
}

fn lacking(reason: String) -> Judged {
    (Verdict::NotMeasurableHere, None, reason)
}

fn case(scope: &Scope, case: String, (verdict, value, sentence): Judged) -> Case {
    Case {
        engine: scope.word("engine").to_owned(),
        case,
        verdict,
        sentence,
        value,
    }
}
