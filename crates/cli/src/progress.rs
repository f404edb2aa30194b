//! How a run is followed: a bar on a terminal, plain lines elsewhere.

use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rsalab_study::{
    compare::Figures,
    run::{CellName, Event, Observer, Progress},
    store::CellState,
};

use rsalab_study::number;

use crate::{
    exit::{Class, Failure},
    output::Talk,
};

/// Steps of the bar for each cell.
const STEPS_PER_CELL: f64 = 100.0;

/// Follows a run on standard error: one line for each cell that is closed, and on a terminal a bar with the cell that is
/// being measured, its estimate so far, and the time to go.
pub(crate) struct Follower {
    talk: Talk,
    /// Not drawn where nobody watches.
    bar: ProgressBar,
    /// Cells of the present group that are still to be closed.
    open_in_group: usize,
    failed: usize,
    unsupported: usize,
}

impl Follower {
    /// A follower that has seen nothing yet.
    pub(crate) fn new(talk: Talk) -> Self {
        let target = match talk.is_watched() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let style = ProgressStyle::with_template("{bar:24} {msg}").expect("the template is fixed");
        let bar = ProgressBar::with_draw_target(Some(0), target).with_style(style);
        Follower {
            talk,
            bar,
            open_in_group: 0,
            failed: 0,
            unsupported: 0,
        }
    }

    /// Takes the bar away, so that what is said next stays.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }

    /// Says how many cells of the whole study failed, if any did.
    pub(crate) fn say_failures(&self, failed: usize) {
        if failed > 0 {
            self.talk.say(format_args!(
                "{} failed; the report has the reasons",
                number::counted(failed, "cell")
            ));
        }
    }

    /// An error if a cell has no figure: to be asked where each was wanted.
    pub(crate) fn verdict(&self) -> Result<(), Failure> {
        let told = |count: usize, ending: &str| {
            format!(
                "{} {ending}; the notes have the reasons",
                number::counted(count, "cell")
            )
        };
        match (self.failed, self.unsupported) {
            (0, 0) => Ok(()),
            (0, count) => Err(Failure::new(
                Class::Unavailable,
                told(count, "could not be measured"),
            )),
            (count, _) => Err(Failure::new(Class::Verification, told(count, "failed"))),
        }
    }

    /// Says a line that stays.
    fn say(&self, line: String) {
        self.bar.suspend(|| self.talk.say(line));
    }

    /// A cell counts when it is closed; those that are being measured in turn advance together.
    fn advance(&self, progress: &Progress) {
        let steps = |cells: f64| (cells * STEPS_PER_CELL) as u64;
        let under_way = self.open_in_group as f64 * progress.group_share;
        self.bar.set_length(steps(progress.cells as f64));
        self.bar
            .set_position(steps(progress.cells_closed as f64 + under_way));
    }
}

impl Observer for Follower {
    fn notice(&mut self, event: &Event<'_>) {
        match event {
            Event::Began { progress } => {
                self.advance(progress);
                if progress.cells_closed > 0 {
                    self.say(format!(
                        "{} of {} are done already",
                        progress.cells_closed,
                        number::counted(progress.cells, "cell")
                    ));
                }
            }
            Event::GroupBegan { job, engines } => {
                self.open_in_group = engines.len();
                self.bar.set_message((*job).to_owned());
            }
            Event::Block {
                cell,
                ns_per_op,
                progress,
            } => {
                self.advance(progress);
                self.bar.set_message(format!(
                    "{}/{} cells · {} · {} · {} {} · {} to go",
                    progress.cells_closed,
                    progress.cells,
                    cell.job,
                    cell.engine,
                    number::duration(ns_per_op.value),
                    number::error(ns_per_op),
                    number::wait(progress.eta)
                ));
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
                self.say(closed(*cell, state, *figures, progress));
            }
            Event::Interrupted { cell, reason } => self.say(format!(
                "{} · {}: a block was interrupted, and is measured anew: {reason}",
                cell.job, cell.engine
            )),
            Event::Warning(warning) => self.say(format!("warning: {warning}")),
            _ => {}
        }
    }
}

fn closed(
    cell: CellName<'_>,
    state: &CellState,
    figures: Option<&Figures>,
    progress: &Progress,
) -> String {
    let outcome = match (state, figures) {
        (CellState::Failed(reason), _) => format!("FAILED: {reason}"),
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

/// How often a line is said where nobody watches a bar.
const LINE_EVERY: Duration = Duration::from_secs(10);

/// Follows work on many items of one kind: a bar on a terminal, a line now and then elsewhere.
pub(crate) struct Counter {
    talk: Talk,
    noun: &'static str,
    bar: ProgressBar,
    begun: Instant,
    said: Instant,
    count: u64,
    before: u64,
}

impl Counter {
    /// For `count` items called `noun`, of which `before` were done earlier.
    pub(crate) fn new(talk: Talk, noun: &'static str, count: u64, before: u64) -> Self {
        let target = match talk.is_watched() {
            true => ProgressDrawTarget::stderr(),
            false => ProgressDrawTarget::hidden(),
        };
        let style = ProgressStyle::with_template("{bar:24} {msg}").expect("the template is fixed");
        Counter {
            talk,
            noun,
            bar: ProgressBar::with_draw_target(Some(count), target).with_style(style),
            begun: Instant::now(),
            said: Instant::now(),
            count,
            before,
        }
    }

    /// Says how far the work is: `made` items now.
    pub(crate) fn advance(&mut self, made: u64) {
        let (total, seconds) = (self.before + made, self.begun.elapsed().as_secs_f64());
        self.bar.set_position(total);
        let rate = made as f64 / seconds;
        let to_go = match made {
            0 => String::new(),
            _ => {
                let left = (self.count.saturating_sub(total)) as f64 / rate;
                format!(
                    " · {}/s · {} to go",
                    number::significant(rate),
                    number::wait(Duration::from_secs_f64(left))
                )
            }
        };
        let line = format!(
            "{} of {}{to_go}",
            number::whole(total),
            number::counted(usize::try_from(self.count).unwrap_or(usize::MAX), self.noun)
        );
        if !self.talk.is_watched() && self.said.elapsed() >= LINE_EVERY && total < self.count {
            self.talk.say(&line);
            self.said = Instant::now();
        }
        self.bar.set_message(line);
    }

    /// Takes the bar away.
    pub(crate) fn finish(&self) {
        self.bar.finish_and_clear();
    }
}
