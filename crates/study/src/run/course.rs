//! How far a run has come, and how long it may still take.

use std::time::Duration;

use super::{
    group::Notice,
    observer::{Event, Progress},
};

/// The work of one group as the course sees it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Share {
    /// All its cells.
    pub(crate) cells: usize,
    /// Those that are still to be done.
    pub(crate) open: usize,
    /// Seconds for which each may be measured.
    pub(crate) budget_s: f64,
}

impl Share {
    fn seconds(&self) -> f64 {
        self.open as f64 * self.budget_s
    }
}

/// The course of a run over its groups.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Course {
    cells: usize,
    cells_closed: usize,
    /// The budgets of the groups that have not begun.
    waiting_s: f64,
    /// The budget of the present group.
    present_s: f64,
    /// How much of it is done, from 0 to 1.
    done: f64,
}

impl Course {
    pub(crate) fn of(groups: impl Iterator<Item = Share>) -> Course {
        let nothing = Course {
            cells: 0,
            cells_closed: 0,
            waiting_s: 0.0,
            present_s: 0.0,
            done: 0.0,
        };
        groups.fold(nothing, |course, share| Course {
            cells: course.cells + share.cells,
            cells_closed: course.cells_closed + share.cells - share.open,
            waiting_s: course.waiting_s + share.seconds(),
            ..course
        })
    }

    /// The next group begins.
    pub(crate) fn enter(&mut self, share: Share) {
        self.present_s = share.seconds();
        self.waiting_s -= self.present_s;
        self.done = 0.0;
    }

    /// Takes note of what happened, and tells it as the observer wants to hear it.
    pub(crate) fn take_in<'a>(&mut self, notice: &Notice<'a>) -> Event<'a> {
        match *notice {
            Notice::Block {
                cell,
                ns_per_op,
                share,
            } => {
                self.done = share;
                Event::Block {
                    cell,
                    ns_per_op,
                    progress: self.progress(),
                }
            }
            Notice::Closed {
                cell,
                state,
                figures,
            } => {
                self.cells_closed += 1;
                Event::Closed {
                    cell,
                    state,
                    figures,
                    progress: self.progress(),
                }
            }
        }
    }

    pub(crate) fn progress(&self) -> Progress {
        let left_s = self.waiting_s + self.present_s * (1.0 - self.done);
        Progress {
            cells_closed: self.cells_closed,
            cells: self.cells,
            group_share: self.done,
            eta: Duration::from_secs_f64(left_s.max(0.0)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_what_the_budgets_allow() {
        let groups = [
            Share {
                cells: 3,
                open: 2,
                budget_s: 10.0,
            },
            Share {
                cells: 1,
                open: 1,
                budget_s: 4.0,
            },
        ];
        let mut course = Course::of(groups.into_iter());
        let begun = course.progress();
        assert_eq!(
            (begun.cells, begun.cells_closed, begun.eta),
            (4, 1, Duration::from_secs(24))
        );
        course.enter(groups[0]);
        course.done = 0.5;
        assert_eq!(course.progress().eta, Duration::from_secs(14));
        course.enter(groups[1]);
        assert_eq!(course.progress().eta, Duration::from_secs(4));
        assert_eq!(course.progress().group_share, 0.0);
    }
}
