//! Two questions of article (a) that no single quotient answers: below which size threads hurt, and how many are best.

use rsalab_measure::Estimate;

use super::{
    cell::exact,
    claims::Judged,
    evidence::Evidence,
    relation::{saves, side},
    scope::Scope,
};
use crate::{cpus::Cpus, number, report::Verdict, significance::Side};

/// Times as long as the least, with the whole interval, up to which a count is said to be as good as the best.
const TIE_FACTOR: f64 = 1.1;

const SPEEDUP: &str = "speedup(text, threads = 2)";

impl Evidence<'_> {
    /// Judges whether two threads are slower than one below a size, and only there.
    pub(super) fn threads_hurt(&self, scope: &Scope) -> Result<Judged, String> {
        let below: usize = scope.word("below").parse().expect("the claim states a size");
        let mut reason = None;
        let mut sides: Vec<(usize, Side)> = Vec::new();
        for symbols in self.sizes() {
            match self.measured(SPEEDUP, &at_size(scope, symbols)) {
                Ok(speedup) => sides.push((symbols, side(&speedup.reciprocal(), 1.0))),
                Err(why) => reason = Some(why),
            }
        }
        // The published size itself is neither below nor beyond.
        let is_below = |(symbols, _): &(usize, Side)| *symbols < below;
        let is_beyond = |(symbols, _): &(usize, Side)| *symbols > below;
        if !sides.iter().any(is_below) || !sides.iter().any(is_beyond) {
            let takes = format!(
                "it takes texts below and beyond {} on one and on two threads",
                number::counted(below, "symbol")
            );
            return Err(reason.unwrap_or(takes));
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
            Some(symbols) if are_in_order => format!("two threads hurt up to {}", number::counted(symbols, "symbol")),
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
        let hurts_below = of(Side::Above).any(|symbols| symbols < below);
        let contradicted =
            of(Side::Below).any(|symbols| symbols < below) || of(Side::Above).any(|symbols| symbols > below);
        let verdict = match (hurts_below, contradicted) {
            // Texts that gain from threads where longer ones lose by them show noise, and nothing of the claim.
            _ if !are_in_order => Verdict::NoSignificantDifference,
            (true, false) => Verdict::Holds,
            (true, true) => Verdict::HoldsInPart,
            (false, true) => Verdict::DoesNotHold,
            (false, false) if sides.iter().all(|(_, side)| *side == Side::TooFew) => Verdict::TooFewValues,
            (false, false) => Verdict::NoSignificantDifference,
        };
        Ok((verdict, most_hurt.map(|symbols| picked(symbols, sides.len())), sentence))
    }

    /// Judges whether two threads save almost half of the time at most sizes.
    pub(super) fn most_save_half(&self, scope: &Scope) -> Result<Judged, String> {
        let mut reason = None;
        let mut verdicts: Vec<Verdict> = Vec::new();
        for symbols in self.sizes() {
            let scope = at_size(scope, symbols);
            match self.measured("saved(speedup(text, threads = 2))", &scope) {
                Ok(saved) => verdicts.push(saves(&saved, 50.0)),
                Err(why) => reason = Some(why),
            }
        }
        let count = |wanted| verdicts.iter().filter(|&&verdict| verdict == wanted).count();
        let (all, holds) = (verdicts.len(), count(Verdict::Holds));
        if all < 3 {
            let takes = "it takes results on one and on two threads at three sizes at least";
            return Err(reason.unwrap_or(takes.to_owned()));
        }
        let verdict = match 2 * holds > all {
            true => Verdict::Holds,
            false if 2 * count(Verdict::DoesNotHold) > all => Verdict::DoesNotHold,
            false if 2 * count(Verdict::TooFewValues) > all => Verdict::TooFewValues,
            false => Verdict::NoSignificantDifference,
        };
        let sentence = format!("two threads save almost half of the time at {holds} of {all} sizes");
        Ok((verdict, Some(picked(holds, all)), sentence))
    }

    /// Judges whether the best number of threads, at every size of a class, is the claimed one.
    pub(super) fn best_thread_count(&self, scope: &Scope) -> Result<Judged, String> {
        let bound = |name: &str| -> usize {
            scope
                .word(name)
                .parse()
                .expect("the claim states the sizes of its classes")
        };
        let (mut reason, mut sizes) = (None, Vec::new());
        for symbols in self.sizes() {
            if (bound("from")..=bound("to")).contains(&symbols) {
                match self.counts_at(symbols, scope) {
                    Ok(counts) => sizes.push(counts),
                    Err(why) => reason = Some(why),
                }
            }
        }
        let largest = sizes.last();
        let largest = largest.ok_or_else(|| reason.unwrap_or("the study has no such size".to_owned()))?;
        let cpus = self.known_cpus();
        let verdicts = sizes.iter().map(|one| one.verdict(scope.word("best"), cpus));
        let words: Vec<String> = sizes.iter().map(CountsAtSize::words).collect();
        let value = picked(largest.fastest, sizes.len());
        Ok((Verdict::over(verdicts), Some(value), words.join("; ")))
    }

    /// The thread counts at a size.
    ///
    /// # Errors
    /// One of those that were measured has no time to be judged by: which count is best is then not known.
    fn counts_at(&self, symbols: usize, scope: &Scope) -> Result<CountsAtSize, String> {
        let scope = at_size(scope, symbols);
        let mut times: Vec<(usize, Estimate)> = Vec::new();
        for threads in self.threads() {
            let time = format!("median(text, threads = {threads})");
            match self.measured(&time, &scope) {
                Ok(time) => times.push((threads, time)),
                // Measured, and not to be judged by.
                Err(reason) if self.measured(&time, &unjudged(&scope)).is_ok() => {
                    return Err(reason);
                }
                Err(_) => {}
            }
        }
        let least = times
            .iter()
            .min_by(|left, right| left.1.value.total_cmp(&right.1.value));
        let (fastest, least) = least
            .filter(|_| times.len() >= 2)
            .ok_or("it takes two numbers of threads")?;
        let of = |time: &Estimate| side(&time.over(least), 1.0);
        let best = times.iter().filter(|(_, time)| of(time) != Side::Above);
        let is_alike = |time: &Estimate| time.over(least).high <= TIE_FACTOR;
        Ok(CountsAtSize {
            symbols,
            fastest: *fastest,
            has_too_few: times.iter().any(|(_, time)| of(time) == Side::TooFew),
            best: best.map(|(threads, time)| (*threads, is_alike(time))).collect(),
        })
    }
}

/// The scope in which figures are shown, not judged.
fn unjudged(scope: &Scope) -> Scope {
    Scope {
        judges: false,
        ..scope.clone()
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
struct CountsAtSize {
    symbols: usize,
    fastest: usize,
    /// `true` if some have too few values to be told from it.
    has_too_few: bool,
    /// The counts that the fastest does not beat, each with whether it is known to be about as good.
    best: Vec<(usize, bool)>,
}

impl CountsAtSize {
    fn verdict(&self, claimed: &str, cpus: Cpus) -> Verdict {
        if self.has_too_few {
            return Verdict::TooFewValues;
        }
        let among = |counts: std::ops::RangeInclusive<usize>| {
            let found = self.best.iter().filter(|(count, _)| counts.contains(count));
            found.map(|(_, is_alike)| *is_alike).collect::<Vec<bool>>()
        };
        let (one, cores) = (among(1..=1), among(2..=cpus.cores));
        let beyond = among(cpus.cores + 1..=cpus.logical);
        let is_any = |found: &[bool]| !found.is_empty();
        let (claimed_ones, wrong) = match claimed {
            "one" => (&one, is_any(&cores) || is_any(&beyond)),
            "cores" => (&cores, is_any(&one) || (is_any(&beyond) && cpus.has_smt())),
            _ => (&beyond, is_any(&one) || is_any(&cores)),
        };
        match (is_any(claimed_ones), wrong) {
            (true, false) => Verdict::Holds,
            // The article calls one thread best for small texts because more do not help: that they do not hurt is no
            // objection. The same goes for hyper-threads in the middle class. That they do not help must be known,
            // though.
            (true, true) if claimed == "one" && claimed_ones.contains(&true) => Verdict::Holds,
            (true, true) if claimed == "cores" && one.is_empty() && cores.contains(&true) => Verdict::Holds,
            (true, true) => Verdict::NoSignificantDifference,
            (false, _) => Verdict::DoesNotHold,
        }
    }

    fn words(&self) -> String {
        let counts: Vec<String> = self.best.iter().map(|(count, _)| count.to_string()).collect();
        format!(
            "best at {}: {}",
            number::counted(self.symbols, "symbol"),
            counts.join(", ")
        )
    }
}
