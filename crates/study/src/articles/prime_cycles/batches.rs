//! The files that the article's program saves: one after each batch, with what is known of all pairs so far.
//!
//! `results/result_<bits>_run_<count>.txt`, where the bits are a prime's and the count that of all pairs so far; for GMP
//! called as the article calls it. The others have a folder of their own beside them.

use super::{
    is_call_by_call,
    plan::{BITS, PRIME_ENGINES},
    prime_bits,
    tables::PROGRAM,
};
use crate::{articles::evidence::Evidence, report::Group};

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFile {
    /// Its place below the directory of the report, with `/` between folders.
    pub path: String,
    /// What it says.
    pub text: String,
}

/// The files of every batch that a study has stored, in the order in which they would have been saved.
pub fn files(groups: &[Group]) -> Vec<BatchFile> {
    let evidence = Evidence { groups };
    let mut files = Vec::new();
    for engine in PRIME_ENGINES {
        let folder = match engine {
            PROGRAM => "results".to_owned(),
            other => format!("results/{other}"),
        };
        for bits in BITS {
            let found = evidence.cell(|job| is_call_by_call(job, bits, 2), engine);
            let Ok(cell) = found else {
                continue;
            };
            let (mut count, mut sum, mut extremes) = (0_u64, 0_u64, None::<(u64, u64)>);
            for block in &cell.digest.blocks {
                let (Some(ticks), Some((least, most))) = (block.ticks, block.extremes) else {
                    break;
                };
                count += block.operations;
                sum += ticks;
                let (low, high) = extremes.unwrap_or((least, most));
                let (low, high) = (low.min(least), high.max(most));
                extremes = Some((low, high));
                let mean = sum as f64 / count as f64;
                files.push(BatchFile {
                    path: format!("{folder}/result_{}_run_{count}.txt", prime_bits(bits)),
                    text: format!(
                        "Bit size: {}\nIterations: {count}\nMinimum clock cycles: {low}\nMaximum clock cycles: {high}\n\
                         Average clock cycles: {mean:.2}\n",
                        prime_bits(bits)
                    ),
                });
            }
        }
    }
    files
}
