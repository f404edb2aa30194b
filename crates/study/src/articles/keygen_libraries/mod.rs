//! Article (c): "Intel IPP vs. OpenSSL RSA key generation", notes of somebody who needed many keys fast.
//!
//! Ten calls of each library's key generation, averaged; ten times that, and the median of the ten averages, in ticks, at
//! sizes below and above 512 bits. It prints a picture with a logarithmic axis and no numbers.
//!
//! | question | file |
//! |---|---|
//! | which cells | [`plan`] |
//! | the tables, and the median of ten means | `tables` |
//! | the figures | `figures` |
//! | the claims, and what the data say | `claims` |

mod claims;
mod figures;
pub mod plan;
mod tables;

use super::{Review, evidence::Evidence};
use crate::report::Group;

/// Everything of the article that a review has.
pub const IDS: [&str; 8] = [
    "c-protocol",
    "c-interval",
    "c-engines",
    "c-luck",
    "c-fig",
    "c-fig-engines",
    "c-claim-i",
    "c-claim-ii",
];

/// The review of the article.
pub(super) fn review(groups: &[Group]) -> Review {
    let evidence = Evidence { groups };
    let (shown, figures) = figures::of(evidence);
    Review {
        id: "c",
        title: "Key generation in Intel IPP and OpenSSL, and in everything else here",
        source: "A comparison of RSA key generation in Intel IPP and OpenSSL, published with its code and raw data",
        machine: "an Intel i7-3720QM at 2.60 GHz (OS X 10.10.5, OpenSSL 1.0.2d) and a Xeon E3-1285L v3 at 3.10 GHz (Debian 8.3, \
                  OpenSSL 1.1.0-pre4), icpc 2015, one core",
        remarks: remarks(),
        shown,
        tables: tables::of(evidence),
        claims: claims::of(evidence),
        figures,
    }
}

fn remarks() -> Vec<String> {
    [
        "The article prints no number, only a picture with a logarithmic axis: nothing is read off it. Its raw data are where \
         it was published; ours are in results.csv, results.json and the database of the study.",
        "One round of Miller–Rabin (nTrials = 1) is what the article gives Intel IPP; OpenSSL takes as many as it finds right. \
         A key of one round is not the same work as one of five or more: the conditions of each engine stand beside its figures.",
        "How long a key takes is a matter of luck: the number of candidates until a prime. A median of ten means of ten keys \
         has the interval that its table shows, and whether two libraries differ by less cannot be told from it.",
        "Set-up is outside of the time: contexts, generators and memory are made once for each thread.",
    ]
    .map(str::to_owned)
    .into()
}
