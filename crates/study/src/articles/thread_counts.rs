//! Two questions of article (a) that no single quotient answers: below which size threads hurt, and how many are best.

use rsalab_measure::Estimate;

use super::{
    cell::exact,
    claims::Judged,
    cpus::Cpus,
    evidence::Evidence,
    relation::{Side, saves, side},
    scope::Scope,
};
use crate::{number, report::Verdict};

const SPEEDUP: &str = "speedup(text, threads = 2)";

impl Evidence<'_> {
    /// Whether two threads are slower than one below a size, and only there.
    pub(super) fn threads_hurt(&self, scope: &Scope) -> Result<Judged, String> {
        let below: usize = scope
            .word("below")
            .parse()
            .expect("the claim states a size");
        let sides: Vec<(usize, Side)> = self
            .sizes()
            .into_iter()
            .filter_map(|symbols| {
                let speedup = self.measured(SPEEDUP, &at_size(scope, symbols)).ok()?;
                Some((symbols, side(&speedup.reciprocal(), 1.0)))
            })
            .collect();
        if sides.is_empty() {
            return Err("it takes results on one and on two threads".to_owned());
        }
        let of = |wanted: Side| {
            let sides = sides.iter().filter(move |(_, side)| *side == wanted);
            sides.map(|(symbols, _)| *symbols)
        };
        let (most_hurt, least_helped) = (of(Side::Above).max(), of(Side::Below).min());
        let are_in_order = most_hurt < least_helped || least_helped.is_none();
        let all = |side| {
            let sizes = of(side).map(|size| number::whole(size as u64));
            sizes.collect::<Vec<_>>().join(", ")
        };
        let hurt = match most_hurt {
            Some(symbols) if are_in_order => format!(
                "two threads hurt up to {}",
                number::counted(symbols, "symbol")
            ),
            Some(_) => format!("two threads hurt at {} symbols", all(Side::Above)),
            None => "two threads hurt at no size".to_owned(),
        };
        let helped = match least_helped {
            Some(symbols) if are_in_order => {
                format!("help from {} on", number::counted(symbols, "symbol"))
            }
            Some(_) => format!("help at {}: no size divides them", all(Side::Below)),
            None => "help at none".to_owned(),
        };
        let sentence = format!(
            "{hurt} and {helped}; published: hurt below {}",
            number::whole(below as u64)
        );
        // The published size itself is neither below nor beyond.
        let hurts_below = of(Side::Above).any(|symbols| symbols < below);
        let contradicted = of(Side::Below).any(|symbols| symbols < below)
            || of(Side::Above).any(|symbols| symbols > below);
        let verdict = match (hurts_below, contradicted) {
            // Texts that gain from threads where longer ones lose by them show noise, and nothing of the claim.
            _ if !are_in_order => Verdict::NoSignificantDifference,
            (true, false) => Verdict::Holds,
            (true, true) => Verdict::HoldsInPart,
            (false, true) => Verdict::DoesNotHold,
            (false, false) => Verdict::NoSignificantDifference,
        };
        Ok((
            verdict,
            most_hurt.map(|symbols| picked(symbols, sides.len())),
            sentence,
        ))
    }

    /// Whether two threads save almost half of the time at most sizes.
    pub(super) fn most_save_half(&self, scope: &Scope) -> Result<Judged, String> {
        let verdicts: Vec<Verdict> = self
            .sizes()
            .into_iter()
            .filter_map(|symbols| {
                let saved = self.measured(
                    "saved(speedup(text, threads = 2))",
                    &at_size(scope, symbols),
                );
                Some(saves(&saved.ok()?, 50.0))
            })
            .collect();
        let count = |wanted| {
            verdicts
                .iter()
                .filter(|&&verdict| verdict == wanted)
                .count()
        };
        let (all, holds) = (verdicts.len(), count(Verdict::Holds));
        if all < 3 {
            return Err(
                "it takes results on one and on two threads at three sizes at least".to_owned(),
            );
        }
        let verdict = match 2 * holds > all {
            true => Verdict::Holds,
            false if 2 * count(Verdict::DoesNotHold) > all => Verdict::DoesNotHold,
            false => Verdict::NoSignificantDifference,
        };
        let sentence =
            format!("two threads save almost half of the time at {holds} of {all} sizes");
        Ok((verdict, Some(picked(holds, all)), sentence))
    }

    /// Whether the best number of threads, at every size of a class, is the claimed one.
    pub(super) fn best_thread_count(&self, scope: &Scope) -> Result<Judged, String> {
        let bound = |name: &str| -> usize {
            scope
                .word(name)
                .parse()
                .expect("the claim states the sizes of its classes")
        };
        let sizes = self.sizes().into_iter();
        let standings: Vec<Standing> = sizes
            .filter(|symbols| (bound("from")..=bound("to")).contains(symbols))
            .filter_map(|symbols| self.standing(symbols, scope))
            .collect();
        let largest = standings.last().ok_or("the study has no such size")?;
        let cpus = self.known_cpus();
        let verdicts = standings
            .iter()
            .map(|one| one.verdict(scope.word("best"), cpus));
        let words: Vec<String> = standings.iter().map(Standing::words).collect();
        let value = picked(largest.fastest, standings.len());
        Ok((Verdict::over(verdicts), Some(value), words.join("; ")))
    }

    fn standing(&self, symbols: usize, scope: &Scope) -> Option<Standing> {
        let scope = at_size(scope, symbols);
        let time = |threads: &usize| {
            self.measured(&format!("median(text, threads = {threads})"), &scope)
                .ok()
        };
        let times: Vec<(usize, Estimate)> = self
            .threads()
            .into_iter()
            .filter_map(|threads| Some((threads, time(&threads)?)))
            .collect();
        if times.len() < 2 {
            return None;
        }
        let (fastest, least) = times
            .iter()
            .min_by(|left, right| left.1.value.total_cmp(&right.1.value))?;
        let is_beaten = |time: &Estimate| side(&time.over(least), 1.0) == Side::Above;
        let best = times.iter().filter(|(_, time)| !is_beaten(time));
        Some(Standing {
            symbols,
            fastest: *fastest,
            best: best.map(|(threads, _)| *threads).collect(),
        })
    }
}

fn at_size(scope: &Scope, symbols: usize) -> Scope {
    let mut scope = scope.clone();
    scope.set("symbols", symbols.to_string());
    scope
}

/// A count that was picked, not measured: it has no interval.
fn picked(count: usize, n: usize) -> Estimate {
    Estimate {
        n,
        ..exact(count as f64)
    }
}

/// The thread counts at one size.
struct Standing {
    symbols: usize,
    fastest: usize,
    /// Those that the fastest does not beat.
    best: Vec<usize>,
}

impl Standing {
    fn verdict(&self, claimed: &str, cpus: Cpus) -> Verdict {
        let one = self.best.contains(&1);
        let mut counts = self.best.iter();
        let cores = counts.clone().any(|count| (2..=cpus.cores).contains(count));
        let beyond = counts.any(|count| (cpus.cores + 1..=cpus.logical).contains(count));
        let (right, wrong) = match claimed {
            "one" => (one, cores || beyond),
            "cores" => (cores, one || (beyond && cpus.has_smt())),
            _ => (beyond, one || cores),
        };
        match (right, wrong) {
            (true, false) => Verdict::Holds,
            // The article calls one thread best for small texts because more do not help: that they do not hurt is no
            // objection. The same goes for hyper-threads in the middle class.
            (true, true) if claimed == "one" => Verdict::Holds,
            (true, true) if claimed == "cores" && !one => Verdict::Holds,
            (true, true) => Verdict::NoSignificantDifference,
            (false, _) => Verdict::DoesNotHold,
        }
    }

    fn words(&self) -> String {
        let counts: Vec<String> = self.best.iter().map(usize::to_string).collect();
        format!(
            "best at {}: {}",
            number::counted(self.symbols, "symbol"),
            counts.join(", ")
        )
    }
}
