//! How far a run has come, and how long it may still take.

use std::time::Duration;

use super::observer::Progress;

/// The work of one group as its progress is counted.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct GroupWork {
    /// All its cells.
    pub(crate) cells: usize,
    /// The cells that are still to be done.
    pub(crate) open: usize,
    /// Seconds for which these are expected to be measured, together.
    pub(crate) expected_s: f64,
}

impl GroupWork {
    /// The work of groups that are measured together.
    pub(super) fn of_all(groups: impl Iterator<Item = GroupWork>) -> GroupWork {
        groups.fold(GroupWork::default(), |sum, group| GroupWork {
            cells: sum.cells + group.cells,
            open: sum.open + group.open,
            expected_s: sum.expected_s + group.expected_s,
        })
    }
}

/// How far a run over its groups has come.
///
/// What is left is expected to go at the pace of what was done: cells that end by precision or by repeats take less
/// time, or more, than was expected of them, and so do those like them.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RunProgress {
    cells: usize,
    cells_closed: usize,
    /// Seconds expected for the groups that have not begun.
    waiting_s: f64,
    /// Seconds expected for the groups that are complete, and the time they took.
    complete_s: f64,
    taken_s: f64,
    /// Seconds expected for the present group, and the time it has taken.
    present_s: f64,
    present_taken_s: f64,
    /// How much of it is done, from 0 to 1.
    done: f64,
}

impl RunProgress {
    pub(crate) fn of(groups: impl Iterator<Item = GroupWork>) -> RunProgress {
        groups.fold(RunProgress::default(), |run, share| RunProgress {
            cells: run.cells + share.cells,
            cells_closed: run.cells_closed + share.cells - share.open,
            waiting_s: run.waiting_s + share.expected_s,
            ..run
        })
    }

    /// The next group begins.
    pub(crate) fn enter(&mut self, share: GroupWork) {
        // A group without a block, all of whose engines are absent, says nothing of the pace.
        if self.present_taken_s > 0.0 {
            self.complete_s += self.present_s;
            self.taken_s += self.present_taken_s;
        }
        self.present_s = share.expected_s;
        self.present_taken_s = 0.0;
        self.waiting_s -= self.present_s;
        self.done = 0.0;
    }

    /// So much of the present group is done, from 0 to 1, in blocks of `spent_ns` together.
    pub(crate) fn advance(&mut self, share: f64, spent_ns: u64) {
        self.done = share;
        self.present_taken_s = spent_ns as f64 * 1e-9;
    }

    /// A cell was closed.
    pub(crate) fn close_cell(&mut self) {
        self.cells_closed += 1;
    }

    pub(crate) fn progress(&self) -> Progress {
        let done_s = self.complete_s + self.present_s * self.done;
        let taken_s = self.taken_s + self.present_taken_s;
        let pace = match done_s > 0.0 && taken_s > 0.0 {
            true => taken_s / done_s,
            false => 1.0,
        };
        let left_s = (self.waiting_s + self.present_s * (1.0 - self.done)) * pace;
        Progress {
            cells_closed: self.cells_closed,
            cells: self.cells,
            group_share: self.done,
            eta: Duration::try_from_secs_f64(left_s.max(0.0)).unwrap_or(Duration::MAX),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn time_left_is_what_is_expected_at_the_pace_so_far() {
        let groups = [
            GroupWork {
                cells: 3,
                open: 2,
                expected_s: 20.0,
            },
            GroupWork {
                cells: 1,
                open: 1,
                expected_s: 4.0,
            },
        ];
        let mut run = RunProgress::of(groups.into_iter());
        let begun = run.progress();
        assert_eq!(
            (begun.cells, begun.cells_closed, begun.eta),
            (4, 1, Duration::from_secs(24))
        );
        run.enter(groups[0]);
        // Half of the 20 s in 10 s: as expected. In 5 s: the rest is expected to take half as long too.
        (run.done, run.present_taken_s) = (0.5, 10.0);
        assert_eq!(run.progress().eta, Duration::from_secs(14));
        run.present_taken_s = 5.0;
        assert_eq!(run.progress().eta, Duration::from_secs(7));
        (run.done, run.present_taken_s) = (1.0, 10.0);
        run.enter(groups[1]);
        assert_eq!(run.progress().eta, Duration::from_secs(2));
        assert_eq!(run.progress().group_share, 0.0);
    }
}
