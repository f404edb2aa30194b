//! The files that the program of article (b) saves: one after each batch, with what is known of all pairs so far.
//!
//! `results/result_<bits>_run_<count>.txt`, where the bits are a prime's and the count that of all pairs so far; for
//! GMP called as the article calls it. The others have a folder of their own inside it.

use super::evidence::Evidence;

/// A file to be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BatchFile {
    /// Its place below the directory of the report, with `/` between folders.
    pub path: String,
    /// Its text.
    pub text: String,
}

impl Evidence<'_> {
    /// The files of every batch that a study has stored, in the order in which they would have been saved.
    pub(super) fn batch_files(&self) -> Vec<BatchFile> {
        let mut files = Vec::new();
        let axes = &self.data.batch_files;
        for scope in self.each(axes, &Default::default()) {
            let Ok(cell) = self.named_cell("pair, threads = 2", &scope) else {
                continue;
            };
            let (folder, prime) = (scope.word("folder"), scope.word("prime"));
            let (mut count, mut sum, mut low, mut high) = (0, 0, u64::MAX, 0);
            for block in &cell.digest.blocks {
                let (Some(ticks), Some((least, most))) = (block.ticks, block.extremes) else {
                    break;
                };
                count += block.operations;
                sum += ticks;
                (low, high) = (low.min(least), high.max(most));
                let mean = sum as f64 / count as f64;
                files.push(BatchFile {
                    path: format!("{folder}/result_{prime}_run_{count}.txt"),
                    text: format!(
                        "Bit size: {prime}\nIterations: {count}\nMinimum clock cycles: {low}\nMaximum clock cycles: {high}\n\
                         Average clock cycles: {mean:.2}\n"
                    ),
                });
            }
        }
        files
    }
}
