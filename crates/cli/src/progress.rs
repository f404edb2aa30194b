//! The progress of a run: a bar on a terminal, plain lines elsewhere.

use std::{
    collections::BTreeMap,
    sync::{
        atomic::{AtomicU64, Ordering},
        mpsc::{RecvTimeoutError, sync_channel},
    },
    thread,
    time::{Duration, Instant},
};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rsalab_study::number;
use rsalab_study::{
    compare::Figures,
    run::{CellName, Event, Observer, Progress},
    store::CellState,
};

use crate::{
    exit::{Class, Failure, Result},
    output::Log,
    steps,
};

/// A bar of so many steps, drawn on a terminal only.
fn bar(log: Log, steps: u64) -> ProgressBar {
    let target = match log.is_watched() {
        true => ProgressDrawTarget::stderr(),
        false => ProgressDrawTarget::hidden(),
    };
    let style = ProgressStyle::with_template("{bar:24} {msg}").expect("the template is fixed");
    ProgressBar::with_draw_target(Some(steps), target).with_style(style)
}

/// Steps of the bar for each cell.
const STEPS_PER_CELL: f64 = 100.0;

/// The longest time without a line where there is no bar.
const QUIET: Duration = Duration::from_secs(30);

/// Follows a run on standard error: one line for each cell that is closed; on a terminal a bar with the cell that is
/// being measured, its estimate so far, and the time left, elsewhere a line with these every half minute.
pub(crate) struct Follower {
    log: Log,
    bar: ProgressBar,
    /// Cells of the present group that are still to be closed.
    open_in_group: usize,
    failed: usize,
    unsupported: usize,
    /// Reasons of failures so far, and the number of the first cell that each ended.
    reasons: BTreeMap<String, usize>,
    /// When something was last printed.
    last_line: Instant,
}

impl Follower {
    /// A follower of a run that has not begun.
    pub(crate) fn new(log: Log) -> Self {
        Follower {
            log,
            bar: bar(log, 0),
            open_in_group: 0,
            failed: 0,
            unsupported: 0,
            reasons: BTreeMap::new(),
            last_line: Instant::now(),
        }
    }

    /// Removes the bar, so that the next line stays.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Prints how many cells of the whole study failed, if any did.
    pub(crate) fn note_failures(&self, failed: usize) {
        if failed > 0 {
            self.log.note(format_args!(
                "{} failed; the report has the reasons",
                number::counted(failed, "cell")
            ));
        }
    }

    /// An error if a cell was not measured, for commands that need all of them.
    pub(crate) fn verdict(&self) -> Result<()> {
        let sentence = |count: usize, ending: &str| {
            format!(
                "{} {ending}; the notes have the reasons",
                number::counted(count, "cell")
            )
        };
        match (self.failed, self.unsupported) {
            (0, 0) => Ok(()),
            (0, count) => Err(Failure::new(
                Class::Unavailable,
                sentence(count, "could not be measured"),
            )),
            (count, _) => Err(Failure::new(Class::Verification, sentence(count, "failed"))),
        }
    }

    /// Prints a line that stays.
    fn note(&mut self, line: String) {
        self.last_line = Instant::now();
        self.bar.suspend(|| self.log.note(line));
    }

    /// A cell counts when it is closed; those of a group are interleaved, and advance together.
    fn advance(&self, progress: &Progress) {
        let steps = |cells: f64| (cells * STEPS_PER_CELL) as u64;
        let under_way = self.open_in_group as f64 * progress.group_share;
        self.bar.set_length(steps(progress.cells as f64));
        self.bar.set_position(steps(progress.cells_closed as f64 + under_way));
    }
}

impl Observer for Follower {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::Began { progress } => {
                self.advance(progress);
                if progress.cells_closed > 0 {
                    self.note(format!(
                        "{} of {} are done already",
                        progress.cells_closed,
                        number::counted(progress.cells, "cell")
                    ));
                }
            }
            Event::GroupBegan { job, engines } => {
                self.open_in_group = engines.len();
                self.bar
                    .suspend(|| steps::ended(|| format!("measuring {job}: {}", engines.join(", "))));
                self.bar.set_message((*job).to_owned());
            }
            Event::Block {
                cell,
                ns_per_op,
                progress,
            } => {
                self.advance(progress);
                let line = format!(
                    "{}/{} cells · {} · {} · {} {} · {} left",
                    progress.cells_closed,
                    progress.cells,
                    cell.job,
                    cell.engine,
                    number::duration(ns_per_op.value),
                    number::error(ns_per_op),
                    number::wait(progress.eta)
                );
                if !self.log.is_watched() && self.last_line.elapsed() >= QUIET {
                    self.note(line.clone());
                }
                self.bar.set_message(line);
            }
            Event::Closed {
                cell,
                state,
                figures,
                progress,
            } => {
                self.open_in_group = self.open_in_group.saturating_sub(1);
                match state {
                    CellState::Failed(_) => self.failed += 1,
                    CellState::Unsupported(_) => self.unsupported += 1,
                    _ => {}
                }
                self.advance(progress);
                let line = self.closed(*cell, state, *figures, progress);
                self.note(line);
            }
            Event::Interrupted { cell, reason } => self.note(format!(
                "{} · {}: a block was interrupted, and is repeated: {reason}",
                cell.job, cell.engine
            )),
            Event::Warning(warning) => self.note(format!("warning: {warning}")),
            _ => {}
        }
    }
}

impl Follower {
    fn closed(
        &mut self,
        cell: CellName<'_>,
        state: &CellState,
        figures: Option<&Figures>,
        progress: &Progress,
    ) -> String {
        let outcome = match (state, figures) {
            (CellState::Failed(reason), _) => self.failure(reason, progress.cells_closed),
            (CellState::Unsupported(reason), _) => format!("not done: {reason}"),
            (_, Some(figures)) => format!(
                "{}/s {}, median {}, average {}",
                number::significant(figures.ops_per_s.value),
                number::error(&figures.ops_per_s),
                number::duration(figures.ns_per_op.value),
                number::duration(figures.summary.mean)
            ),
            (state, None) => state.name().to_owned(),
        };
        format!(
            "[{}/{}] {} · {}: {outcome}",
            progress.cells_closed, progress.cells, cell.job, cell.engine
        )
    }

    /// Why a cell failed: in full when it is said first, but for what a worker said at length. The report has all of
    /// it.
    fn failure(&mut self, reason: &str, cell: usize) -> String {
        const MOST_CHARS: usize = 300;
        if let Some(first) = self.reasons.get(reason) {
            return format!("FAILED for the reason of [{first}]");
        }
        self.reasons.insert(reason.to_owned(), cell);
        match reason.char_indices().nth(MOST_CHARS) {
            Some((end, _)) => format!("FAILED: {}… (the report has all of it)", &reason[..end]),
            None => format!("FAILED: {reason}"),
        }
    }
}

/// How often a line is printed where there is no bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Follows work on many items of one kind: a bar on a terminal, a line every ten seconds elsewhere.
pub(crate) struct Counter {
    log: Log,
    noun: &'static str,
    bar: ProgressBar,
    begun: Instant,
    last_line: Instant,
    count: u64,
    before: u64,
}

impl Counter {
    /// For `count` items called `noun`, of which `before` were done earlier.
    pub(crate) fn new(log: Log, noun: &'static str, count: u64, before: u64) -> Self {
        Counter {
            log,
            noun,
            bar: bar(log, count),
            begun: Instant::now(),
            last_line: Instant::now(),
            count,
            before,
        }
    }

    /// Shows the progress: `made` items so far.
    pub(crate) fn advance(&mut self, made: u64) {
        let (total, seconds) = (self.before + made, self.begun.elapsed().as_secs_f64());
        self.bar.set_position(total);
        let rate = made as f64 / seconds;
        let time_left = match made {
            0 => String::new(),
            _ => {
                let left = (self.count.saturating_sub(total)) as f64 / rate;
                format!(
                    " · {}/s · {} left",
                    number::significant(rate),
                    number::wait(Duration::from_secs_f64(left))
                )
            }
        };
        let line = format!(
            "{} of {}{time_left}",
            number::whole(total),
            number::counted(usize::try_from(self.count).unwrap_or(usize::MAX), self.noun)
        );
        if !self.log.is_watched() && self.last_line.elapsed() >= LINE_EVERY && total < self.count {
            self.log.note(&line);
            self.last_line = Instant::now();
        }
        self.bar.set_message(line);
    }

    /// Removes the bar.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}

/// Does work on `count` items called `noun`, which counts those that are done, while another thread shows how many they
/// are. Where the system gives no thread, nothing is shown.
pub(crate) fn follow<T>(log: Log, noun: &'static str, count: u64, work: impl FnOnce(&AtomicU64) -> T) -> T {
    let done = &AtomicU64::new(0);
    thread::scope(|scope| {
        let (working, ended) = sync_channel::<()>(0);
        let show = move || {
            let mut counter = Counter::new(log, noun, count, 0);
            while ended.recv_timeout(Duration::from_millis(100)) == Err(RecvTimeoutError::Timeout) {
                counter.advance(done.load(Ordering::Relaxed));
            }
            counter.finish();
        };
        let _ = thread::Builder::new().spawn_scoped(scope, show);
        let result = work(done);
        drop(working);
        result
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_given_once_and_not_at_any_length() {
        let mut follower = Follower::new(Log::new(true));
        let long = "ä".repeat(400);
        let said = follower.failure(&long, 1);
        assert_eq!(said.matches('ä').count(), 300);
        assert!(said.ends_with("… (the report has all of it)"));
        assert_eq!(follower.failure("no memory", 2), "FAILED: no memory");
        assert_eq!(follower.failure(&long, 3), "FAILED for the reason of [1]");
        assert_eq!(follower.failure("no memory", 4), "FAILED for the reason of [2]");
    }
}
