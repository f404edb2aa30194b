//! The article's claims, each with the comparison that decides it.
//!
//! What it says of its GPU is decided by the engine `gpu` with the article's launch; where there is no GPU, each such claim carries the
//! reason why it cannot be measured.

use rsalab_engines::Op;
use rsalab_measure::Estimate;

use super::{
    figures::per_s,
    plan::{BITS, CRYPTOPP, GPU, HALVES, MANY_BITS, MESSAGES, OWN, SEQUENTIAL, SEQUENTIAL_CRT},
    published::{Column, PUBLISHED},
    tables::NO_HALVES,
    times::{Length, Many, One, Times, Value},
};
use crate::{
    articles::{
        Case, Claim, Verdict,
        cases::{Cases, NOISE, alike, side},
    },
    number,
};

/// Two implementations, or two ways to count, are alike within this.
const ALIKE: f64 = 0.1;
/// "About so many times" is reached by what comes within a tenth of it.
const ABOUT: f64 = 0.9;
/// Messages of the article's own comparison with many times one.
const MOST: usize = MESSAGES[MESSAGES.len() - 1];
const LENGTHS: [(Length, &str); 2] = [
    (Length::Fixed, "760-bit message"),
    (Length::ByteShorter, "message a byte shorter than the key"),
];
const DIRECTIONS: [(Op, Op, &str); 2] = [
    (Op::Public, Op::TextEncrypt, "encryption"),
    (Op::Private, Op::TextDecrypt, "decryption"),
];

pub(super) fn of(times: Times<'_>) -> Vec<Claim> {
    [
        SAME_AS_LIBRARY.decided(same_as_library(times)),
        GPU_FROM_3072.decided(gpu_from_3072(times)),
        DECRYPTION_SLOWER.decided(decryption_slower(times)),
        SMALL_EXPONENT.decided(small_exponent(times)),
        GPU_DECRYPTS_FASTER.decided(gpu_decrypts_faster(times)),
        GPU_GROWS.decided(gpu_grows(times)),
        ENCRYPTION_GAINS_LITTLE.decided(encryption_gains_little(times)),
        SIX_TIMES.decided(six_times(times)),
        TWENTY_THREE_TIMES.decided(twenty_three_times(times)),
        MESSAGES_GAIN.decided(messages_gain(times)),
        LOOP_OVERHEAD.decided(loop_overhead(times)),
        MULTITHREAD_OVERLAP.decided(multithread_overlap(times)),
        GPU_OVERLAP.decided(gpu_overlap(times)),
        THROUGHPUT.decided(throughput(times)),
    ]
    .into()
}

const SAME_AS_LIBRARY: Claim = Claim::stated(
    "d-claim-i",
    "The sequential implementation is as fast as Crypto++.",
    "no significant difference (section 5, of Table 1; which prints 0.130 ms and 0.500 ms)",
    "Time of the textbook's encryption of 760 bits with a key of 1024 bits divided by Crypto++'s: it holds within 10 % of 1.",
);
const GPU_FROM_3072: Claim = Claim::stated(
    "d-claim-ii",
    "From keys of 3072 bits on, the GPU encrypts faster than one thread and than several.",
    "Tables 1 and 3: 0.8 and 2.6 ms at 3072 bits, where one thread takes 0.85 and 2.99",
    "Time of the sequential CPU divided by the GPU's at each size from 3072 bits on: it holds above 1. One encryption has \
     no multithreaded form.",
);
const DECRYPTION_SLOWER: Claim = Claim::stated(
    "d-claim-iii",
    "Decryption takes longer than encryption.",
    "Tables 2 and 4: 9 to 625 times as long on one thread",
    "Time of decryption divided by that of encryption, e = 65537, messages a byte shorter than the key: it holds above 1.",
);
const SMALL_EXPONENT: Claim = Claim::stated(
    "d-claim-iv",
    "Decryption takes longer because e is chosen small.",
    "in words only",
    "The same quotient of the textbook, which has no CRT, with a random e as long as the modulus: it holds if the two \
     directions then come within 10 % of each other.",
);
const GPU_DECRYPTS_FASTER: Claim = Claim::stated(
    "d-claim-v",
    "The GPU decrypts faster than one thread and than several at every size.",
    "Tables 2 and 4: 2.42 ms at 768 bits, where one thread takes 5.03",
    "Time of the faster of the sequential and the multithread CPU divided by the GPU's: it holds above 1.",
);
const GPU_GROWS: Claim = Claim::stated(
    "d-claim-vi",
    "The GPU gains more the heavier the computation.",
    "S2 of decryption grows from 2.078 at 768 bits to 22.998 at 8192 (Table 6)",
    "S2 of decryption at 8192 bits divided by that at 768: it holds above 1.",
);
const ENCRYPTION_GAINS_LITTLE: Claim = Claim::stated(
    "d-claim-vii",
    "One encryption gains little, from threads or from the GPU.",
    "S1 to 2.254, S2 to 3.896 (Tables 5 and 6)",
    "S1 and S2 of encryption at 8192 bits divided by those of decryption: it holds below 1.",
);
const SIX_TIMES: Claim = Claim::stated(
    "d-claim-viii",
    "Several threads decrypt one message about six times as fast.",
    "S1 6.043 at 8192 bits (Table 6)",
    "S1 of decryption at 8192 bits, by the two CRT halves of the message: it holds if the interval reaches 6 less 10 %.",
);
const TWENTY_THREE_TIMES: Claim = Claim::stated(
    "d-claim-ix",
    "The GPU decrypts one message about 23 times as fast.",
    "S2 22.998 at 8192 bits (Table 6)",
    "S2 of decryption at 8192 bits: it holds if the interval reaches 23 less 10 %.",
);
const MESSAGES_GAIN: Claim = Claim::stated(
    "d-claim-x",
    "Of many messages, several threads decrypt 2.17 times as many, the GPU about 14 times as many.",
    "2.17 and about 14 (Table 8, 600 messages)",
    "Time of 600 decryptions at 1024 bits on one thread divided by that on as many as there are CPUs, or on the GPU: it \
     holds if the interval reaches the published figure less 10 %.",
);
const LOOP_OVERHEAD: Claim = Claim::stated(
    "d-claim-xi",
    "600 messages one after another take longer than 600 times one: the loop costs.",
    "1262.272 ms for 600 encryptions, where 600 times 0.75 ms are 450: 2.8 times; its decryptions take 0.87 times",
    "Time of 600 messages on one thread divided by 600 times that of one, 1024 bits: it holds above 1.1.",
);
const MULTITHREAD_OVERLAP: Claim = Claim::stated(
    "d-claim-xii",
    "600 messages on several threads are faster than 600 times one, for free resources are taken.",
    "1.228 times: 600 times 0.9 ms are 540, and Table 7 has 439.475",
    "600 times the time of one message divided by that of 600 on as many threads as there are CPUs, 1024 bits, textbook \
     without CRT, of which one message takes one thread: it holds above 1.",
);
const GPU_OVERLAP: Claim = Claim::stated(
    "d-claim-xiii",
    "600 messages on the GPU are faster than 600 times one.",
    "1.572 times: 600 times 1.13 ms are 678, and Table 7 has 431.194",
    "600 times the time of one encryption on the GPU divided by that of 600 at once, 1024 bits: it holds above 1.",
);
const THROUGHPUT: Claim = Claim::stated(
    "d-claim-xiv",
    "About 1,800 messages of 1024 bits are decrypted in a second, and about 250 of 2048 bits.",
    "the GPU's, Figures 3 and 4; Table 8 has 1,890 at most",
    "Most decryptions a second over 50 to 600 messages in flight, on as many threads as there are CPUs: it holds if the \
     interval lies above the published figure less 10 %.",
);

/// One comparison: its value judged and put in words, or why there is none.
fn judged(
    cases: &mut Cases<'_>,
    name: impl Into<String>,
    value: Value,
    judge: impl Fn(&Estimate) -> Verdict,
    words: impl Fn(&str) -> String,
) {
    match value {
        Ok(value) => {
            let sentence = words(&number::with_interval(&value));
            cases.add(name, judge(&value), Some(value), sentence);
        }
        Err(reason) => cases.lacks(name, reason),
    }
}

fn above_one(value: &Estimate) -> Verdict {
    side(value, 1.0).claimed_above()
}

/// Whether a gain comes up to one that was published as "about".
fn reaches(gain: &Estimate, published: f64) -> Verdict {
    let is_gain = gain.low > 1.0 + NOISE;
    if gain.confidence <= 0.0 {
        Verdict::NoSignificantDifference
    } else if gain.high < ABOUT * published {
        Verdict::DoesNotHold
    } else if is_gain {
        Verdict::Holds
    } else {
        Verdict::NoSignificantDifference
    }
}

/// The cases of a claim about the GPU: one with the reason as long as there is none.
fn on_gpu(times: Times<'_>, fill: impl FnOnce(&mut Cases<'_>)) -> Vec<Case> {
    let mut cases = Cases::of(GPU);
    match times.lack_of_gpu() {
        Some(reason) => cases.lacks("all of it", reason),
        None => fill(&mut cases),
    }
    cases.cases
}

fn same_as_library(times: Times<'_>) -> Vec<Case> {
    const BITS: usize = 1024;
    let mut cases = Cases::of(SEQUENTIAL);
    let one = One::of(Op::Public, BITS, Length::Fixed);
    judged(
        &mut cases,
        format!("encryption, {BITS} bits"),
        times.speed(one, CRYPTOPP, SEQUENTIAL),
        |quotient| alike(quotient, ALIKE),
        |value| format!("{SEQUENTIAL} takes {value} times as long as {CRYPTOPP}"),
    );
    cases.cases
}

fn gpu_from_3072(times: Times<'_>) -> Vec<Case> {
    on_gpu(times, |cases| {
        for bits in BITS.into_iter().filter(|bits| *bits >= 3072) {
            for (length, name) in LENGTHS {
                let one = One::of(Op::Public, bits, length);
                judged(
                    cases,
                    format!("{bits} bits, {name}"),
                    times.speed(one, GPU, SEQUENTIAL),
                    above_one,
                    |value| format!("the GPU encrypts {value} times as fast as {SEQUENTIAL}"),
                );
            }
        }
    })
}

fn decryption_slower(times: Times<'_>) -> Vec<Case> {
    let of_engine = |engine: &str| {
        let mut cases = Cases::of(engine);
        for bits in BITS {
            let one = |op| One::of(op, bits, Length::ByteShorter);
            let quotient = || {
                let decryption = times.one_ns(one(Op::Private), engine)?;
                Ok(decryption.over(&times.one_ns(one(Op::Public), engine)?))
            };
            judged(
                &mut cases,
                format!("{bits} bits"),
                quotient(),
                above_one,
                |value| format!("decryption takes {value} times as long as encryption"),
            );
        }
        cases.cases
    };
    [SEQUENTIAL, CRYPTOPP, OWN]
        .into_iter()
        .flat_map(of_engine)
        .collect()
}

fn small_exponent(times: Times<'_>) -> Vec<Case> {
    let mut cases = Cases::of(SEQUENTIAL);
    for bits in BITS {
        let one = |op| One::of(op, bits, Length::ByteShorter).with_random_exponent();
        let quotient = || {
            let decryption = times.one_ns(one(Op::Private), SEQUENTIAL)?;
            Ok(decryption.over(&times.one_ns(one(Op::Public), SEQUENTIAL)?))
        };
        judged(
            &mut cases,
            format!("{bits} bits, random e"),
            quotient(),
            |quotient| alike(quotient, ALIKE),
            |value| {
                format!("with a random e, decryption takes {value} times as long as encryption")
            },
        );
    }
    cases.cases
}

fn gpu_decrypts_faster(times: Times<'_>) -> Vec<Case> {
    on_gpu(times, |cases| {
        for bits in BITS {
            for (length, name) in LENGTHS {
                let one = One::of(Op::Private, bits, length);
                let beside = |engine| times.speed(one, GPU, engine);
                // The faster of the two is the one beside which the GPU gains less.
                let less = match (beside(SEQUENTIAL), beside(HALVES)) {
                    (Ok(sequential), Ok(halves)) if halves.value < sequential.value => Ok(halves),
                    (Ok(sequential), _) => Ok(sequential),
                    (Err(_), halves) => halves,
                };
                judged(
                    cases,
                    format!("{bits} bits, {name}"),
                    less,
                    above_one,
                    |value| {
                        format!(
                            "the GPU decrypts {value} times as fast as the faster of the others"
                        )
                    },
                );
            }
        }
    })
}

fn gpu_grows(times: Times<'_>) -> Vec<Case> {
    on_gpu(times, |cases| {
        let s2 = |bits| {
            let one = One::of(Op::Private, bits, Length::ByteShorter);
            times.speed(one, GPU, SEQUENTIAL)
        };
        let growth = || Ok::<_, String>(s2(BITS[BITS.len() - 1])?.over(&s2(BITS[0])?));
        judged(
            cases,
            "decryption, 8192 beside 768 bits",
            growth(),
            above_one,
            |value| format!("S2 at 8192 bits is {value} times that at 768"),
        );
    })
}

fn encryption_gains_little(times: Times<'_>) -> Vec<Case> {
    const BITS: usize = 8192;
    let part = |engine: &str| {
        let gain = |op| times.speed(One::of(op, BITS, Length::ByteShorter), engine, SEQUENTIAL);
        Ok::<_, String>(gain(Op::Public)?.over(&gain(Op::Private)?))
    };
    let name = format!("{BITS} bits");
    let judge = |quotient: &Estimate| above_one(&quotient.reciprocal());
    let words = |value: &str| format!("encryption gains {value} times what decryption does");
    let mut cases = Cases::of(HALVES);
    let of_threads = part(HALVES).map_err(|reason| {
        match ["no form", "no variant"]
            .iter()
            .any(|none| reason.contains(none))
        {
            true => format!(
                "{NO_HALVES}: the CRT takes the primes, so there is nothing for a second thread"
            ),
            false => reason,
        }
    });
    judged(&mut cases, name.as_str(), of_threads, judge, words);
    let mut all = cases.cases;
    all.extend(on_gpu(times, |cases| {
        judged(cases, name.as_str(), part(GPU), judge, words);
    }));
    all
}

fn six_times(times: Times<'_>) -> Vec<Case> {
    const BITS: usize = 8192;
    let mut cases = Cases::of(HALVES);
    let one = One::of(Op::Private, BITS, Length::ByteShorter);
    let of_crt = times.speed(one, SEQUENTIAL_CRT, SEQUENTIAL);
    let of_thread = times.speed(one, HALVES, SEQUENTIAL_CRT);
    let parts = match (of_crt, of_thread) {
        (Ok(crt), Ok(thread)) => format!(
            "; of this the CRT makes {} and the second thread {}",
            number::with_interval(&crt),
            number::with_interval(&thread)
        ),
        _ => String::new(),
    };
    let published = PUBLISHED.text.multithread_gain;
    judged(
        &mut cases,
        format!("decryption, {BITS} bits"),
        times.speed(one, HALVES, SEQUENTIAL),
        |gain| reaches(gain, published),
        |value| format!("the two halves are {value} times as fast as {SEQUENTIAL}{parts}"),
    );
    cases.cases
}

fn twenty_three_times(times: Times<'_>) -> Vec<Case> {
    const BITS: usize = 8192;
    on_gpu(times, |cases| {
        let one = One::of(Op::Private, BITS, Length::ByteShorter);
        judged(
            cases,
            format!("decryption, {BITS} bits"),
            times.speed(one, GPU, SEQUENTIAL),
            |gain| reaches(gain, PUBLISHED.text.gpu_gain),
            |value| format!("the GPU is {value} times as fast as {SEQUENTIAL}"),
        );
    })
}

/// So many messages of 1024 bits at once.
fn most(op: Op, threads: usize) -> Many {
    Many {
        op,
        bits: MANY_BITS[0],
        messages: MOST,
        threads,
    }
}

fn messages_gain(times: Times<'_>) -> Vec<Case> {
    let name = format!("{MOST} decryptions");
    let published = PUBLISHED.text.multithread_messages_gain;
    let mut cases = Cases::of(SEQUENTIAL);
    let gain = |threads: usize| {
        let one = times.many_ns(most(Op::TextDecrypt, 1), SEQUENTIAL)?;
        Ok::<_, String>(one.over(&times.many_ns(most(Op::TextDecrypt, threads), SEQUENTIAL)?))
    };
    match times.full_threads() {
        Err(reason) => cases.lacks(name.as_str(), reason),
        Ok(threads) => {
            // Two threads cannot be more than twice as fast, however good they are.
            let can_be_told = threads as f64 > published;
            let count = number::counted(threads, "thread");
            judged(
                &mut cases,
                name.as_str(),
                gain(threads),
                |gain| match can_be_told {
                    true => reaches(gain, published),
                    false => Verdict::NotMeasurableHere,
                },
                |value| {
                    let limit = match can_be_told {
                        true => String::new(),
                        false => format!(", which {count} cannot reach"),
                    };
                    format!(
                        "{count} are {value} times as fast as one; published {published}{limit}"
                    )
                },
            );
        }
    }
    let mut all = cases.cases;
    all.extend(on_gpu(times, |cases| {
        let gain = || {
            let one = times.many_ns(most(Op::TextDecrypt, 1), SEQUENTIAL)?;
            Ok::<_, String>(one.over(&times.many_ns(most(Op::TextDecrypt, 1), GPU)?))
        };
        judged(
            cases,
            name.as_str(),
            gain(),
            |gain| reaches(gain, PUBLISHED.text.gpu_messages_gain),
            |value| format!("the GPU is {value} times as fast as {SEQUENTIAL}"),
        );
    }));
    all
}

fn loop_overhead(times: Times<'_>) -> Vec<Case> {
    let mut cases = Cases::of(SEQUENTIAL);
    for (place, (one_op, op, direction)) in DIRECTIONS.into_iter().enumerate() {
        let one = One::of(one_op, MANY_BITS[0], Length::ByteShorter);
        let quotient = || {
            let many = times.many_ns(most(op, 1), SEQUENTIAL)?;
            let single = times.one_ns(one, SEQUENTIAL)?;
            Ok::<_, String>(many.over(&single.scaled(MOST as f64)))
        };
        let printed = PUBLISHED.messages[place]
            .ms(MOST, Column::Sequential)
            .zip(PUBLISHED.latency[2 + place].ms(MANY_BITS[0], Column::Sequential))
            .map(|(many, one)| {
                format!(
                    "; the article's numbers make {:.2}",
                    many / one / MOST as f64
                )
            })
            .unwrap_or_default();
        judged(
            &mut cases,
            direction,
            quotient(),
            |quotient| match side(quotient, 1.0 + ALIKE) {
                _ if alike(quotient, ALIKE) == Verdict::Holds => Verdict::DoesNotHold,
                beside => beside.claimed_above(),
            },
            |value| {
                format!("{MOST} messages take {value} times as long as {MOST} times one{printed}")
            },
        );
    }
    cases.cases
}

fn multithread_overlap(times: Times<'_>) -> Vec<Case> {
    let mut cases = Cases::of(SEQUENTIAL);
    for (one_op, op, direction) in DIRECTIONS {
        let threads = match times.full_threads() {
            Ok(threads) => threads,
            Err(reason) => {
                cases.lacks(direction, reason);
                continue;
            }
        };
        let one = One::of(one_op, MANY_BITS[0], Length::ByteShorter);
        let overlap = || {
            let single = times.one_ns(one, SEQUENTIAL)?;
            let many = times.many_ns(most(op, threads), SEQUENTIAL)?;
            Ok::<_, String>(single.scaled(MOST as f64).over(&many))
        };
        let count = number::counted(threads, "thread");
        let published = match op {
            Op::TextEncrypt => {
                let times = number::as_printed(PUBLISHED.text.multithread_overlap);
                format!("; published {times}")
            }
            _ => String::new(),
        };
        judged(&mut cases, direction, overlap(), above_one, |value| {
            format!(
                "{MOST} messages on {count} are {value} times as fast as {MOST} times one{published}"
            )
        });
    }
    cases.cases
}

fn gpu_overlap(times: Times<'_>) -> Vec<Case> {
    on_gpu(times, |cases| {
        let one = One::of(Op::Public, MANY_BITS[0], Length::ByteShorter);
        let overlap = || {
            let single = times.one_ns(one, GPU)?;
            let many = times.many_ns(most(Op::TextEncrypt, 1), GPU)?;
            Ok::<_, String>(single.scaled(MOST as f64).over(&many))
        };
        judged(cases, "encryption", overlap(), above_one, |value| {
            let published = number::as_printed(PUBLISHED.text.gpu_overlap);
            format!(
                "{MOST} messages are {value} times as fast as {MOST} times one; published {published}"
            )
        });
    })
}

fn throughput(times: Times<'_>) -> Vec<Case> {
    let of_engine = |engine: &str, threads: usize, cases: &mut Cases<'_>| {
        for bits in MANY_BITS {
            let Some(published) = PUBLISHED.text.throughput.per_s(bits) else {
                continue;
            };
            let mut best: Value = Err(format!("{engine} is not measured yet"));
            for messages in MESSAGES {
                let value = per_s(times, engine, bits, messages, threads);
                best = match (best, value) {
                    (Ok(best), Ok(value)) if value.value > best.value => Ok(value),
                    (Ok(best), _) => Ok(best),
                    (Err(_), value) => value,
                };
            }
            let judge = |value: &Estimate| side(value, ABOUT * published).claimed_above();
            let count = number::counted(threads, "thread");
            judged(cases, format!("{bits} bits"), best, judge, |value| {
                format!("{value} decryptions a second on {count}; published about {published}")
            });
        }
    };
    let threads = times.full_threads().unwrap_or(1);
    let mut all = Vec::new();
    for engine in [SEQUENTIAL, CRYPTOPP, OWN] {
        let mut cases = Cases::of(engine);
        of_engine(engine, threads, &mut cases);
        all.extend(cases.cases);
    }
    all.extend(on_gpu(times, |cases| of_engine(GPU, 1, cases)));
    all
}
