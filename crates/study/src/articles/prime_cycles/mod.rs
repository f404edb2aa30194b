//! Article (b): "RSA Cryptographic Implementation and Performance Analysis", a report on a course's assignment.
//!
//! A program in C on GMP finds a million pairs of primes at each of three sizes on two threads, saves every batch, and
//! counts the ticks of the time-stamp counter of each pair and of each step of RSA after it.
//!
//! | question | file |
//! |---|---|
//! | which cells | [`plan`] |
//! | what the article printed | `published` |
//! | the tables | `tables` |
//! | how ticks are distributed | `figures` |
//! | the claims, and what the data say | `claims` |
//! | the files that its program saved | [`batches`] |

pub mod batches;
mod claims;
mod figures;
pub mod plan;
mod published;
mod tables;

use rsalab_engines::{Job, Mode, Op};

use super::{Review, evidence::Evidence};
use crate::report::Group;

/// Everything of the article that a review has.
pub const IDS: [&str; 14] = [
    "b-step1",
    "b-tab1",
    "b-tab1-openmp",
    "b-tab1-own",
    "b-times",
    "b-shell",
    "b-fig-512",
    "b-fig-768",
    "b-fig-1024",
    "b-claim-i",
    "b-claim-ii",
    "b-claim-iii",
    "b-claim-iv",
    "b-claim-v",
];

/// The review of the article.
pub(super) fn review(groups: &[Group]) -> Review {
    let evidence = Evidence { groups };
    let (shown, figures) = figures::of(evidence);
    Review {
        id: "b",
        title: "Primes and every step of RSA, in ticks of the time-stamp counter",
        source: "RSA Cryptographic Implementation and Performance Analysis, a report on a course's assignment (C, OpenMP and GMP)",
        machine: "an Intel i5-12450H, two of its performance cores, 16 GB, Kali Linux in VirtualBox, gcc 14.2.0",
        remarks: remarks(),
        shown,
        tables: tables::of(evidence),
        claims: claims::of(evidence),
        figures,
    }
}

fn remarks() -> Vec<String> {
    [
        "Ticks of the time-stamp counter run at a constant rate whatever the clock of the core: divided by the turbo clock of \
         4.4 GHz, as the article does in its section 4, they are not seconds. Ours are seconds of the monotonic clock.",
        "The article calls mpz_probab_prime_p with a count of 5 and takes that for five rounds of Miller–Rabin, with an error \
         of one in 1,024. Since GMP 6.2 such a count means a Baillie–PSW test, and no further rounds below 25: a stronger \
         test, of which no composite that passes is known.",
        "These figures of the article do not follow from its own: the seconds of a pair at 768 bits are 0.005672, not \
         0.005677; the time on two threads 15,082 s, not 15,083 s; steps 2 to 4 together 0.000185, 0.000479 and 0.001121 s, \
         not 0.000188, 0.000472 and 0.001110 s.",
        "The article measures steps 2 to 4 once each. Its step 2 takes more ticks at 512 bits than at 1,024: that is the first \
         call of all, with nothing in any cache. The first call and the median of many stand apart here.",
        "Its message has 1,023 bits at every size; the longer moduli have messages of their own length beside it here.",
    ]
    .map(str::to_owned)
    .into()
}

/// Bits of a prime of the modulus.
fn prime_bits(modulus: usize) -> usize {
    modulus / 2
}

/// A search for pairs that are timed one by one.
fn is_call_by_call(job: &Job, bits: usize, threads: usize) -> bool {
    (job.op, job.mode, job.bits, job.threads) == (Op::PrimePair, Mode::Concurrent, bits, threads)
}

/// The run of our own engine for the number of pairs alone.
fn is_long_run(job: &Job, bits: usize) -> bool {
    (job.op, job.mode, job.bits) == (Op::PrimePair, Mode::Throughput, bits)
}

/// One of steps 2 to 4.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Step {
    op: Op,
    /// Bits of the message; none for steps without one, and for full messages.
    message_bits: Option<usize>,
}

impl Step {
    const TOTIENT: Step = Step::without_message(Op::Totient);
    const PRIVATE_EXPONENT: Step = Step::without_message(Op::PrivateExponent);
    const ENCRYPTION: Step = Step::of_published(Op::Public);
    const DECRYPTION: Step = Step::of_published(Op::Private);

    const fn without_message(op: Op) -> Step {
        Step {
            op,
            message_bits: None,
        }
    }

    const fn of_published(op: Op) -> Step {
        Step {
            op,
            message_bits: Some(plan::MESSAGE_BITS),
        }
    }

    fn is_asked(self, job: &Job, bits: usize) -> bool {
        (job.op, job.bits, job.message_bits) == (self.op, bits, self.message_bits)
            && job.mode == Mode::Latency
    }
}
