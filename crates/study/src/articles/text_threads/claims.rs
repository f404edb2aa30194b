//! The article's six claims, each computed for every engine with its uncertainty.
//!
//! Times of different thread counts are not measured in turn with each other, only those of different engines are. Their
//! quotients therefore have intervals that join both ([`Estimate::over`]), and a difference below [`NOISE`] is never
//! called one, however narrow the intervals are.

use std::ops::RangeInclusive;

use rsalab_engines::Op;
use rsalab_measure::Estimate;

use super::{DIRECTIONS, Times};
use crate::{
    articles::{
        Case, Claim, Cpus, Verdict,
        cases::{Cases, NOISE, Side, alike, side},
    },
    number,
};

/// Decryption is called far slower from this quotient on.
const FAR: f64 = 2.0;
/// The article rounds its savings: `almost 50 %` is met by what comes within so many points.
const POINTS: f64 = 5.0;
/// Both directions gain alike where their speed-ups differ by at most this much.
const ALIKE: f64 = 0.1;

/// Every claim, decided.
pub(super) fn of(times: &Times<'_>, cpus: Option<Cpus>) -> Vec<Claim> {
    let study = Study {
        times,
        cpus: cpus.unwrap_or(Cpus {
            cores: 1,
            logical: 1,
        }),
    };
    let claims: [(Claim, Decide); 6] = [
        (MORE_DATA, more_data),
        (DECRYPTION_SLOWER, decryption_slower),
        (SAVINGS, savings),
        (THREADS_HURT, threads_hurt),
        (BEST_COUNT, best_count),
        (BOTH_DIRECTIONS, both_directions),
    ];
    claims
        .into_iter()
        .map(|(claim, decide)| {
            let engines = times.engines().into_iter();
            claim.decided(engines.flat_map(|engine| decide(&study, engine)).collect())
        })
        .collect()
}

/// The comparisons behind a claim for one engine.
type Decide = fn(&Study<'_>, &str) -> Vec<Case>;

const MORE_DATA: Claim = Claim::stated(
    "a-claim-i",
    "The more data, the more threads gain.",
    "larger input: less time on more threads",
    "Speed-up at the largest size, on as many threads as there are CPUs, divided by that at the smallest: it holds above 1.",
);
const DECRYPTION_SLOWER: Claim = Claim::stated(
    "a-claim-ii",
    "Decryption takes far longer than encryption.",
    "much higher, no figure in the text",
    "Time of decryption divided by that of encryption, one thread, largest size: it holds from 2 on.",
);
const SAVINGS: Claim = Claim::stated(
    "a-claim-iii",
    "Two threads save half the time, more threads more, hyper-threads a little.",
    "2 threads 50 %, 3 threads 60 %, 4 threads 65 %, hyper-threads 5 % more",
    "Share of the time of one thread that is saved at the largest size, in per cent: it holds if the interval reaches the \
     published figure less 5 points, and there is a saving at all.",
);
const THREADS_HURT: Claim = Claim::stated(
    "a-claim-iv",
    "Threads hurt small texts.",
    "encryption below 1,000 symbols, decryption below 100",
    "Time on two threads divided by that on one, at each size: it holds if it is above 1 somewhere below the published \
     size, below 1 nowhere there, and above 1 nowhere beyond. The value is the largest size that threads hurt.",
);
const BEST_COUNT: Claim = Claim::stated(
    "a-claim-v",
    "The best number of threads grows with the text, in three classes.",
    "below 1,000 symbols 1 thread; to 50,000 the cores, without hyper-threads; above, hyper-threads too",
    "Thread counts that no other beats significantly, at each size of a class; the value is the fastest one.",
);
const BOTH_DIRECTIONS: Claim = Claim::stated(
    "a-claim-vi",
    "Threads do the same for encryption and for decryption.",
    "a similar effect on both",
    "Speed-up of decryption divided by that of encryption, on as many threads as there are CPUs: it holds within 10 % \
     of 1.",
);

/// What the claims are decided from.
struct Study<'a> {
    times: &'a Times<'a>,
    cpus: Cpus,
}

impl Study<'_> {
    /// The largest number of threads that was measured and does not exceed the CPUs; none below two.
    fn full_threads(&self) -> Option<usize> {
        self.times
            .threads()
            .into_iter()
            .rfind(|count| (2..=self.cpus.logical).contains(count))
    }

    fn smallest_and_largest(&self) -> Option<(usize, usize)> {
        let sizes = self.times.sizes();
        let (first, last) = (*sizes.first()?, *sizes.last()?);
        (first < last).then_some((first, last))
    }

    fn few_cpus(&self) -> String {
        format!(
            "the study has no two threads on {} to compare",
            number::counted(self.cpus.logical, "CPU")
        )
    }
}

fn more_data(study: &Study<'_>, engine: &str) -> Vec<Case> {
    let mut cases = Cases::of(engine);
    for (op, direction) in DIRECTIONS {
        let Some(threads) = study.full_threads() else {
            cases.lacks(direction, study.few_cpus());
            continue;
        };
        let gains = study.smallest_and_largest().and_then(|(small, large)| {
            let gain = |symbols| study.times.speed_up(engine, op, symbols, threads);
            Some((small, gain(small)?, large, gain(large)?))
        });
        let Some((small, at_small, large, at_large)) = gains else {
            cases.lacks(direction, "it takes results at two sizes of text");
            continue;
        };
        let growth = at_large.over(&at_small);
        let verdict = side(&growth, 1.0).claimed_above();
        let sentence = format!(
            "{} are {} times as fast as one at {}, and {} times at {}",
            number::counted(threads, "thread"),
            number::with_interval(&at_small),
            number::counted(small, "symbol"),
            number::with_interval(&at_large),
            number::counted(large, "symbol"),
        );
        cases.add(direction, verdict, Some(growth), sentence);
    }
    cases.cases
}

fn decryption_slower(study: &Study<'_>, engine: &str) -> Vec<Case> {
    let mut cases = Cases::of(engine);
    let times = study.times;
    let largest = times.sizes().last().copied().unwrap_or(0);
    let time = |op| times.text_ns(engine, op, largest, 1);
    let name = number::counted(largest, "symbol");
    let Some((encryption, decryption)) = time(Op::TextEncrypt).zip(time(Op::TextDecrypt)) else {
        cases.lacks(name, "it takes both directions on one thread");
        return cases.cases;
    };
    let quotient = decryption.over(&encryption);
    let verdict = match (side(&quotient, FAR), side(&quotient, 1.0)) {
        (Side::Above, _) => Verdict::Holds,
        (Side::Below, Side::Above | Side::Below) => Verdict::DoesNotHold,
        (Side::Below, Side::Unclear) | (Side::Unclear, _) => Verdict::NoSignificantDifference,
    };
    let sentence = format!(
        "decryption of {name} takes {} times as long as encryption",
        number::with_interval(&quotient)
    );
    cases.add(name, verdict, Some(quotient), sentence);
    cases.cases
}

fn savings(study: &Study<'_>, engine: &str) -> Vec<Case> {
    const PUBLISHED: [(usize, f64); 3] = [(2, 50.0), (3, 60.0), (4, 65.0)];
    let mut cases = Cases::of(engine);
    let Some(&size) = study.times.sizes().last() else {
        return cases.cases;
    };
    for (op, direction) in DIRECTIONS {
        let saved = |threads| {
            let speed_up = study.times.speed_up(engine, op, size, threads)?;
            Some(saved_percent(&speed_up))
        };
        for (threads, published) in PUBLISHED {
            let name = format!("{direction}, {threads} threads");
            if threads > study.cpus.logical {
                let why = format!(
                    "there are {} here",
                    number::counted(study.cpus.logical, "CPU")
                );
                cases.lacks(name, why);
                continue;
            }
            let Some(saving) = saved(threads) else {
                cases.lacks(name, "the study has not measured it");
                continue;
            };
            let least = 100.0 * NOISE;
            let verdict = if saving.confidence <= 0.0 {
                Verdict::NoSignificantDifference
            } else if saving.high < -least
                || (saving.low > least && saving.high < published - POINTS)
            {
                Verdict::DoesNotHold
            } else if saving.low > least {
                Verdict::Holds
            } else {
                Verdict::NoSignificantDifference
            };
            let sentence = format!(
                "{threads} threads save {} % of the time of one, published {published} %",
                number::with_interval(&saving)
            );
            cases.add(name, verdict, Some(saving), sentence);
        }
        hyper_threads(study, engine, (op, direction), size, &mut cases);
    }
    cases.cases
}

/// What the cores' second threads save beyond the cores: in per cent of the time on the cores alone.
fn hyper_threads(
    study: &Study<'_>,
    engine: &str,
    (op, direction): (Op, &str),
    size: usize,
    cases: &mut Cases<'_>,
) {
    let name = format!("{direction}, hyper-threads");
    let Cpus { cores, logical } = study.cpus;
    if !study.cpus.has_smt() {
        cases.lacks(name, "this machine shows no hyper-threads");
        return;
    }
    let time = |threads| study.times.text_ns(engine, op, size, threads);
    let Some((alone, shared)) = time(cores).zip(time(logical)) else {
        let why = format!("it takes results on {cores} and on {logical} threads");
        cases.lacks(name, why);
        return;
    };
    let saving = saved_percent(&alone.over(&shared));
    let verdict = side(&alone.over(&shared), 1.0).claimed_above();
    let sentence = format!(
        "{logical} threads on {cores} cores save {} % of the time of {cores}, published 5 %",
        number::with_interval(&saving)
    );
    cases.add(name, verdict, Some(saving), sentence);
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

fn threads_hurt(study: &Study<'_>, engine: &str) -> Vec<Case> {
    let mut cases = Cases::of(engine);
    for (op, direction) in DIRECTIONS {
        let below = match op {
            Op::TextDecrypt => 100,
            _ => 1_000,
        };
        if study.cpus.logical < 2 {
            cases.lacks(direction, study.few_cpus());
            continue;
        }
        let sides: Vec<(usize, Side)> = study
            .times
            .sizes()
            .into_iter()
            .filter_map(|symbols| {
                let slowdown = study.times.speed_up(engine, op, symbols, 2)?.reciprocal();
                Some((symbols, side(&slowdown, 1.0)))
            })
            .collect();
        if sides.is_empty() {
            cases.lacks(direction, "it takes results on one and on two threads");
            continue;
        }
        let hurt = sides.iter().filter(|(_, side)| *side == Side::Above);
        let helped = sides.iter().filter(|(_, side)| *side == Side::Below);
        let most_hurt = hurt.map(|(symbols, _)| *symbols).max();
        let least_helped = helped.map(|(symbols, _)| *symbols).min();
        let mut parts = vec![match most_hurt {
            Some(symbols) => format!(
                "two threads hurt up to {}",
                number::counted(symbols, "symbol")
            ),
            None => "two threads hurt at no size".to_owned(),
        }];
        parts.push(match least_helped {
            Some(symbols) => format!("help from {} on", number::counted(symbols, "symbol")),
            None => "help at none".to_owned(),
        });
        let sentence = format!(
            "{}; published: hurt below {}",
            parts.join(" and "),
            number::whole(below as u64)
        );
        // The published size itself is neither below nor beyond.
        let any = |wanted, is_meant: fn(&usize, &usize) -> bool| {
            let mut sides = sides.iter();
            sides.any(|(symbols, side)| *side == wanted && is_meant(symbols, &below))
        };
        let hurts_below = any(Side::Above, usize::lt);
        let contradicted = any(Side::Below, usize::lt) || any(Side::Above, usize::gt);
        let verdict = match (hurts_below, contradicted) {
            (true, false) => Verdict::Holds,
            (true, true) => Verdict::HoldsInPart,
            (false, true) => Verdict::DoesNotHold,
            (false, false) => Verdict::NoSignificantDifference,
        };
        let value = most_hurt.map(|symbols| exact(symbols, sides.len()));
        cases.add(direction, verdict, value, sentence);
    }
    cases.cases
}

/// A class of sizes, and what the article says of it.
struct Class {
    name: &'static str,
    sizes: RangeInclusive<usize>,
    best: Best,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Best {
    One,
    Cores,
    HyperThreads,
}

const CLASSES: [Class; 3] = [
    Class {
        name: "below 1,000 symbols",
        sizes: 0..=999,
        best: Best::One,
    },
    Class {
        name: "1,000 to 50,000 symbols",
        sizes: 1_000..=50_000,
        best: Best::Cores,
    },
    Class {
        name: "above 50,000 symbols",
        sizes: 50_001..=usize::MAX,
        best: Best::HyperThreads,
    },
];

fn best_count(study: &Study<'_>, engine: &str) -> Vec<Case> {
    let mut cases = Cases::of(engine);
    for (op, direction) in DIRECTIONS {
        for class in &CLASSES {
            let name = format!("{direction}, {}", class.name);
            if study.cpus.logical < 2 {
                cases.lacks(name, study.few_cpus());
                continue;
            }
            if class.best == Best::HyperThreads && !study.cpus.has_smt() {
                cases.lacks(name, "this machine shows no hyper-threads");
                continue;
            }
            let sizes = study.times.sizes().into_iter();
            let standings: Vec<Standing> = sizes
                .filter(|symbols| class.sizes.contains(symbols))
                .filter_map(|symbols| Standing::of(study, engine, op, symbols))
                .collect();
            let Some(largest) = standings.last() else {
                cases.lacks(name, "the study has no such size");
                continue;
            };
            let verdict = Verdict::over(
                standings
                    .iter()
                    .map(|one| one.verdict(class.best, study.cpus)),
            );
            let words: Vec<String> = standings.iter().map(Standing::words).collect();
            let value = Some(exact(largest.fastest, standings.len()));
            cases.add(name, verdict, value, words.join("; "));
        }
    }
    cases.cases
}

/// The thread counts at one size.
struct Standing {
    symbols: usize,
    fastest: usize,
    /// Those that the fastest does not beat.
    best: Vec<usize>,
}

impl Standing {
    fn of(study: &Study<'_>, engine: &str, op: Op, symbols: usize) -> Option<Standing> {
        let times: Vec<(usize, Estimate)> = study
            .times
            .threads()
            .into_iter()
            .filter_map(|threads| {
                Some((threads, study.times.text_ns(engine, op, symbols, threads)?))
            })
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

    fn verdict(&self, claimed: Best, cpus: Cpus) -> Verdict {
        let one = self.best.contains(&1);
        let cores = self
            .best
            .iter()
            .any(|count| (2..=cpus.cores).contains(count));
        let beyond = self
            .best
            .iter()
            .any(|count| (cpus.cores + 1..=cpus.logical).contains(count));
        let (right, wrong) = match claimed {
            Best::One => (one, cores || beyond),
            Best::Cores => (cores, one || (beyond && cpus.has_smt())),
            Best::HyperThreads => (beyond, one || cores),
        };
        match (right, wrong) {
            (true, false) => Verdict::Holds,
            // The article calls one thread best for small texts because more do not help: that they do not hurt is no
            // objection. The same goes for hyper-threads in the middle class.
            (true, true) if claimed == Best::One => Verdict::Holds,
            (true, true) if claimed == Best::Cores && !one => Verdict::Holds,
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

fn both_directions(study: &Study<'_>, engine: &str) -> Vec<Case> {
    let mut cases = Cases::of(engine);
    for symbols in study.times.sizes() {
        let name = number::counted(symbols, "symbol");
        let Some(threads) = study.full_threads() else {
            cases.lacks(name, study.few_cpus());
            continue;
        };
        let gain = |op| study.times.speed_up(engine, op, symbols, threads);
        let Some((encryption, decryption)) = gain(Op::TextEncrypt).zip(gain(Op::TextDecrypt))
        else {
            cases.lacks(name, "it takes both directions");
            continue;
        };
        let quotient = decryption.over(&encryption);
        let verdict = alike(&quotient, ALIKE);
        let sentence = format!(
            "{} make encryption {} times as fast, and decryption {} times",
            number::counted(threads, "thread"),
            number::with_interval(&encryption),
            number::with_interval(&decryption),
        );
        cases.add(name, verdict, Some(quotient), sentence);
    }
    cases.cases
}

/// A count that was picked, not measured: it has no interval.
fn exact(count: usize, n: usize) -> Estimate {
    Estimate {
        value: count as f64,
        low: count as f64,
        high: count as f64,
        confidence: 0.0,
        n,
    }
}
