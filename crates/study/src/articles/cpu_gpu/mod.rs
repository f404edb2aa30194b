//! Article (d): H. M. Fadhil and M. I. Younis, "Parallelizing RSA Algorithm on Multicore CPU and GPU", International Journal
//! of Computer Applications 87, 2014, pages 15–22.
//!
//! The article sets Crypto++ beside Montgomery exponentiation on one thread, on several and on a GPU: keys of 768 to 8192
//! bits, one message of 760 bits or a byte shorter than the modulus, and 50 to 600 messages at once.
//!
//! | question | file |
//! |---|---|
//! | which cells, and which engine stands for which column | [`plan`] |
//! | what the article printed | `published` |
//! | how long a message took | `times` |
//! | Tables 1 to 8, and four more | `tables` |
//! | Figures 3 and 4 | `figures` |
//! | the claims, and what the data say | `claims` |

mod claims;
mod figures;
pub mod plan;
mod published;
mod tables;
mod times;

use self::times::Times;
use super::{Cpus, Review, evidence::Evidence};
use crate::{number, report::Group};

/// Everything of the article that a review has.
pub const IDS: [&str; 28] = [
    "d-tab1",
    "d-tab2",
    "d-tab3",
    "d-tab4",
    "d-tab5",
    "d-tab6",
    "d-tab7",
    "d-tab8",
    "d-multithread",
    "d-crt",
    "d-exponent",
    "d-batches",
    "d-fig3",
    "d-fig4",
    "d-claim-i",
    "d-claim-ii",
    "d-claim-iii",
    "d-claim-iv",
    "d-claim-v",
    "d-claim-vi",
    "d-claim-vii",
    "d-claim-viii",
    "d-claim-ix",
    "d-claim-x",
    "d-claim-xi",
    "d-claim-xii",
    "d-claim-xiii",
    "d-claim-xiv",
];

/// The review of the article.
pub(super) fn review(groups: &[Group], cpus: Option<Cpus>) -> Review {
    let times = Times {
        evidence: Evidence { groups },
        cpus,
    };
    let (shown, figures) = figures::of(times);
    Review {
        id: "d",
        title: "Crypto++ beside Montgomery exponentiation on one thread, on several, and on a GPU",
        source: "H. M. Fadhil, M. I. Younis: Parallelizing RSA Algorithm on Multicore CPU and GPU. International Journal of \
                 Computer Applications 87, 2014, pages 15–22",
        machine: "an Intel Core i7-2670QM at 2.20 GHz, 12 GB, an NVIDIA GeForce GT 630M of 96 cores, Windows 7 Home Premium",
        remarks: remarks(cpus),
        shown,
        tables: tables::of(times),
        claims: claims::of(times),
        figures,
    }
}

fn remarks(cpus: Option<Cpus>) -> Vec<String> {
    let mut remarks: Vec<String> = [
        "The article's sequential, multithreaded and GPU programs are in C#, the last by way of GPU.NET, which is not sold any \
         more: none of them is built here. The engine textbook does the article's two algorithms step by step in their place, \
         without the CRT as the article gives them, and Crypto++ is the library itself.",
        "Its GPU programs start a grid of 512 blocks of 128 threads each, which gpu:article does too, whatever there is to do; gpu \
         starts a thread for each number. Unlike the article's, both take the CRT, blind, and check their results; gpu:plain \
         does without the CRT.",
        "It does not say how often it measured. Here each time is the median of 100 calls as published, or fewer in the short \
         form; engines that stand in one row were measured in turn.",
        "Its texts come from a file or are typed: rsalab encrypt takes both. Here texts are random, from the study's seed, and \
         each number of messages has a text and a key of its own, the same for every engine and thread count.",
    ]
    .map(str::to_owned)
    .into();
    if let Some(cpus) = cpus {
        remarks.push(format!(
            "This study could use {} on {}.",
            number::counted(cpus.logical, "CPU"),
            number::counted(cpus.cores, "core"),
        ));
    }
    remarks
}
