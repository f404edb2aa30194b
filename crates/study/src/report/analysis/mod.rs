//! Sections of a report that look at many cells together: each has a sentence on what it shows, figures, and the same
//! as a table.
//!
//! | question | file |
//! |---|---|
//! | what a section is made of | `section` |
//! | how many threads are best for a text, at each length and key size | `best_threads` |
//! | what does a batch gain, and how long is it waited for | `batches` |
//! | with which power of the key size does the cost grow | `exponents` |
//! | how near is it to what this CPU could do | `roofline`, `work` |
//! | how are the times of a cell distributed | `distribution` |

mod batches;
mod best_threads;
mod distribution;
mod exponents;
mod roofline;
mod section;
mod work;

use rsalab_measure::peak::Peak;

pub use self::section::{Analysis, Column, Entry, Line, Part};
use super::group::Group;

/// Every section that a study's groups have something for. `others` are those of no article, whose own figures show
/// their groups; `all` is every group.
pub(super) fn of(all: &[Group], others: &[Group], peaks: &[Peak], core_hz: Option<f64>) -> Vec<Analysis> {
    let sections = [
        best_threads::of(all),
        batches::of(others),
        exponents::of(others),
        roofline::of(others, peaks, core_hz),
        distribution::of(others),
    ];
    sections.into_iter().flatten().collect()
}
