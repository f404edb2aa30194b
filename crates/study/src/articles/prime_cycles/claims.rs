//! The article's claims, each computed for every engine that has what it takes.

use rsalab_measure::Estimate;

use super::{
    Step, is_call_by_call,
    plan::{BITS, PRIME_ENGINES},
    prime_bits,
    published::PUBLISHED,
    tables::sum,
};
use crate::{
    articles::{
        Case, Claim, Verdict,
        cases::{side, within},
        evidence::Evidence,
    },
    number,
};

/// "About ten times" is met within a fifth of it.
const ABOUT: f64 = 0.2;
/// The overhead of two threads is met within so many points.
const POINTS: f64 = 5.0;
/// Decryption costs so many times encryption, at the least and at the most.
const QUOTIENTS: [f64; 2] = [8.0, 45.0];
/// From here on a step is negligible beside another: one in so many.
const NEGLIGIBLE: f64 = 20.0;

type Value = Result<Estimate, String>;

pub(super) fn of(evidence: Evidence<'_>) -> Vec<Claim> {
    [
        GROWTH.decided(growth(evidence)),
        GAIN.decided(gain(evidence)),
        OVERHEAD.decided(overhead(evidence)),
        QUOTIENT.decided(quotient(evidence)),
        DOMINATES.decided(dominates(evidence)),
    ]
    .into()
}

const GROWTH: Claim = Claim::stated(
    "b-claim-i",
    "Primes of 1,024 bits take about ten times the ticks of primes of 512 bits.",
    "6,761,931.78 and 66,574,448.80 ticks a pair: 9.85 times",
    "Mean ticks of a pair at 1,024 bits divided by those at 512 bits, on two threads: it holds if the interval lies within 8 to 12.",
);
const GAIN: Claim = Claim::stated(
    "b-claim-ii",
    "Two threads are 1.5 to 1.7 times as fast as one.",
    "1.5 to 1.7, measured nowhere in the article",
    "Wall time of a pair on one thread divided by that on two: it holds if the interval lies within 1.5 to 1.7.",
);
const OVERHEAD: Claim = Claim::stated(
    "b-claim-iii",
    "Two threads have an overhead of 35 %.",
    "half the time of one thread, times 1.35",
    "Twice the wall time of a pair on two threads divided by that on one, less one: it holds if the interval lies within 5 \
     points of 35 %.",
);
const QUOTIENT: Claim = Claim::stated(
    "b-claim-iv",
    "Decryption takes far more ticks than encryption, and the more so the longer the key.",
    "11.4, 19.8 and 27.4 times at 512-, 768- and 1,024-bit primes",
    "Median ticks of decryption divided by those of encryption, without CRT, message of 1,023 bits: it holds if each lies \
     between 8 and 45 and they grow with the key.",
);
const DOMINATES: Claim = Claim::stated(
    "b-claim-v",
    "Finding primes dominates, and steps 2 to 4 are negligible beside it.",
    "0.0015 to 0.0151 s a pair, 0.0002 to 0.0011 s for steps 2 to 4",
    "Mean time of a pair on one thread divided by the medians of steps 2 to 4 together, one key: negligible is below a \
     twentieth.",
);

fn growth(evidence: Evidence<'_>) -> Vec<Case> {
    let of = |engine: &str| -> Value {
        let mean = |bits: usize| {
            let cell = evidence.cell(|job| is_call_by_call(job, bits, 2), engine)?;
            Ok::<_, String>(cell.mean_ns())
        };
        Ok(mean(BITS[2])?.over(&mean(BITS[0])?))
    };
    let judge = |value: &Estimate| within(value, 10.0 * (1.0 - ABOUT), 10.0 * (1.0 + ABOUT));
    each(
        &PRIME_ENGINES,
        "1,024 beside 512 bits",
        of,
        judge,
        "times the ticks",
    )
}

/// How many times as fast two threads are.
fn gain_at(evidence: Evidence<'_>, engine: &str, bits: usize) -> Value {
    let wall = |threads: usize| {
        let cell = evidence.cell(|job| is_call_by_call(job, bits, threads), engine)?;
        cell.wall_ns()
    };
    Ok(wall(1)?.over(&wall(2)?))
}

fn gain(evidence: Evidence<'_>) -> Vec<Case> {
    let [least, most] = PUBLISHED.times.gain;
    over_sizes(
        &PRIME_ENGINES,
        |engine, bits| gain_at(evidence, engine, bits),
        |value| within(value, least, most),
        "times as fast on two threads",
    )
}

fn overhead(evidence: Evidence<'_>) -> Vec<Case> {
    let published = (PUBLISHED.times.overhead - 1.0) * 100.0;
    let of = |engine: &str, bits: usize| {
        let gain = gain_at(evidence, engine, bits)?;
        let twice = gain.reciprocal().scaled(2.0);
        Ok(Estimate {
            value: (twice.value - 1.0) * 100.0,
            low: (twice.low - 1.0) * 100.0,
            high: (twice.high - 1.0) * 100.0,
            ..twice
        })
    };
    over_sizes(
        &PRIME_ENGINES,
        of,
        |value| within(value, published - POINTS, published + POINTS),
        "per cent of overhead",
    )
}

fn quotient(evidence: Evidence<'_>) -> Vec<Case> {
    let mut cases = Vec::new();
    for (engine, encrypts) in [
        ("gmp:plain_powm_sec", "gmp:plain_powm_sec"),
        ("c-openmp:powm_sec", "c-openmp:powm_sec"),
        ("own:plain", "own"),
    ] {
        let at = |bits: usize| -> Value {
            let median = |step: Step, engine: &str| {
                let cell = evidence.cell(|job| step.is_asked(job, bits), engine)?;
                Ok::<_, String>(cell.median_ns())
            };
            let decryption = median(Step::DECRYPTION, engine)?;
            Ok(decryption.over(&median(Step::ENCRYPTION, encrypts)?))
        };
        let values = BITS.map(at);
        let [least, most] = QUOTIENTS;
        let mut smaller: Option<Estimate> = None;
        for (bits, value) in BITS.into_iter().zip(values) {
            let before = smaller;
            let grows = |value: &Estimate| match before {
                Some(smaller) if value.low > smaller.high => Verdict::Holds,
                Some(smaller) if value.high < smaller.low => Verdict::DoesNotHold,
                Some(_) => Verdict::NoSignificantDifference,
                None => Verdict::Holds,
            };
            let judge = |value: &Estimate| match within(value, least, most) {
                Verdict::Holds => grows(value),
                other => other,
            };
            let name = format!("{}-bit primes", prime_bits(bits));
            smaller = value.as_ref().ok().copied();
            cases.push(case(
                engine,
                name,
                value,
                judge,
                "times the ticks of encryption",
            ));
        }
    }
    cases
}

fn dominates(evidence: Evidence<'_>) -> Vec<Case> {
    let engines = [
        (
            "gmp:random",
            "gmp",
            "gmp:plain_powm_sec",
            "gmp:plain_powm_sec",
        ),
        ("own", "own", "own", "own:plain"),
    ];
    let mut cases = Vec::new();
    for (engine, set_up, encrypts, decrypts) in engines {
        for bits in BITS {
            let of = || -> Value {
                let pair = evidence.cell(|job| is_call_by_call(job, bits, 1), engine)?;
                let step = |step: Step, engine: &str| {
                    let cell = evidence.cell(|job| step.is_asked(job, bits), engine)?;
                    Ok(cell.median_ns())
                };
                let after = sum([
                    step(Step::TOTIENT, set_up),
                    step(Step::PRIVATE_EXPONENT, set_up),
                    step(Step::ENCRYPTION, encrypts),
                    step(Step::DECRYPTION, decrypts),
                ])?;
                Ok(pair.mean_ns().over(&after))
            };
            let judge = |value: &Estimate| side(value, NEGLIGIBLE).claimed_above();
            let name = format!("{}-bit primes", prime_bits(bits));
            cases.push(case(
                engine,
                name,
                of(),
                judge,
                "times the time of steps 2 to 4",
            ));
        }
    }
    cases
}

fn each(
    engines: &[&str],
    name: &str,
    value: impl Fn(&str) -> Value,
    judge: impl Fn(&Estimate) -> Verdict,
    unit: &str,
) -> Vec<Case> {
    let of = |engine: &&str| case(engine, name.to_owned(), value(engine), &judge, unit);
    engines.iter().map(of).collect()
}

fn over_sizes(
    engines: &[&str],
    value: impl Fn(&str, usize) -> Value,
    judge: impl Fn(&Estimate) -> Verdict,
    unit: &str,
) -> Vec<Case> {
    let mut cases = Vec::new();
    for engine in engines {
        for bits in BITS {
            let name = format!("{}-bit primes", prime_bits(bits));
            cases.push(case(engine, name, value(engine, bits), &judge, unit));
        }
    }
    cases
}

fn case(
    engine: &str,
    name: String,
    value: Value,
    judge: impl Fn(&Estimate) -> Verdict,
    unit: &str,
) -> Case {
    let (verdict, sentence, value) = match value {
        Ok(value) => (
            judge(&value),
            format!("{} {unit}", number::with_interval(&value)),
            Some(value),
        ),
        Err(reason) => (Verdict::NotMeasurableHere, reason, None),
    };
    Case {
        engine: engine.to_owned(),
        case: name,
        verdict,
        sentence,
        value,
    }
}
