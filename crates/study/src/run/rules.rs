//! When a group of cells has been measured enough.

use rsalab_engines::Job;
use rsalab_measure::interleave;

use crate::plan::Measure;

const NS_PER_S: f64 = 1e9;

/// The rules of a group. They are asked between rounds, when every engine has as many blocks as the others.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Rules<'a> {
    measure: &'a Measure,
    /// Operations in one call.
    operations_per_call: u64,
}

/// Where a group stands between two rounds.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Standing {
    /// Rounds that are complete.
    pub(crate) rounds: usize,
    /// Engines that still take turns.
    pub(crate) contestants: usize,
    /// Time of all blocks of all engines.
    pub(crate) elapsed_ns: u64,
    /// Time of the last round's blocks.
    pub(crate) last_round_ns: u64,
    /// The fewest operations that any engine has in its samples.
    pub(crate) operations: u64,
    /// The relative error of the engine that is known least, once all have one.
    pub(crate) precision: Option<f64>,
}

impl<'a> Rules<'a> {
    pub(crate) fn new(measure: &'a Measure, job: &Job) -> Self {
        let operations_per_call = match job.op.is_text() {
            true => 1,
            false => (job.batch * job.threads) as u64,
        };
        Rules {
            measure,
            operations_per_call,
        }
    }

    /// The order of turns, as [`interleave`] draws it.
    ///
    /// The budget is not the schedule's: it counts the time of blocks, so that a study that was broken off has the same
    /// budget as one that was not, and it leaves every engine its least number of blocks.
    pub(crate) fn plan(&self, seed: u64) -> interleave::Plan {
        interleave::Plan {
            precision: None,
            confidence: self.measure.confidence,
            min_rounds: self.min_rounds(),
            max_rounds: self.max_rounds(),
            budget_ns: None,
            seed,
        }
    }

    fn min_rounds(&self) -> usize {
        self.measure.min_blocks.min(self.max_rounds())
    }

    /// Where the repeats fix the rounds, they decide.
    fn max_rounds(&self) -> usize {
        let planned = self.measure.planned_rounds();
        planned.unwrap_or(self.measure.max_blocks)
    }

    /// Time that all engines of the group may be measured for.
    pub(crate) fn budget_ns(&self, contestants: usize) -> f64 {
        self.measure.budget_s * NS_PER_S * contestants as f64
    }

    /// Whether another round is not worth beginning.
    pub(crate) fn is_enough(&self, standing: &Standing) -> bool {
        if standing.rounds < self.min_rounds() {
            return false;
        }
        // A precision of 0 asks for none, even where every sample is the same.
        let is_precise = self.measure.precision > 0.0
            && standing
                .precision
                .is_some_and(|reached| reached <= self.measure.precision);
        let is_repeated = self
            .measure
            .repeats
            .is_some_and(|calls| self.calls(standing) >= calls);
        // Another round is begun if at least half of it is within the budget.
        let half_round_later_ns = standing.elapsed_ns as f64 + standing.last_round_ns as f64 / 2.0;
        let is_spent = half_round_later_ns > self.budget_ns(standing.contestants);
        is_precise || is_repeated || is_spent || standing.rounds >= self.max_rounds()
    }

    /// How much of the group is done, from 0 to 1, judged by the rule that will end it first.
    pub(crate) fn share(&self, standing: &Standing) -> f64 {
        let spent = standing.elapsed_ns as f64 / self.budget_ns(standing.contestants.max(1));
        let rounds = standing.rounds as f64 / self.max_rounds() as f64;
        let repeated = self
            .measure
            .repeats
            .map_or(0.0, |calls| self.calls(standing) as f64 / calls as f64);
        // An interval narrows with the square root of the work.
        let precise = standing
            .precision
            .map_or(0.0, |reached| (self.measure.precision / reached).powi(2));
        let by_rule = spent.max(rounds).max(repeated).max(precise);
        let at_least = standing.rounds as f64 / self.min_rounds() as f64;
        by_rule.min(at_least).clamp(0.0, 1.0)
    }

    fn calls(&self, standing: &Standing) -> u64 {
        standing.operations / self.operations_per_call
    }
}

#[cfg(test)]
mod tests {
    use rsalab_engines::{Exponent, Mode, Op};

    use super::*;

    fn job(op: Op, threads: usize, batch: usize) -> Job {
        Job {
            op,
            bits: 1024,
            threads,
            batch,
            mode: Mode::Throughput,
            variant: None,
            bare: false,
            exponent: Exponent::F4,
            message_bits: None,
            symbols: 0,
            block_symbols: 0,
        }
    }

    #[test]
    fn each_rule_ends_a_group_but_not_before_the_least_number_of_blocks() {
        let measure = Measure {
            precision: 0.01,
            budget_s: 1.0,
            min_blocks: 3,
            max_blocks: 9,
            repeats: Some(100),
            ..Measure::default()
        };
        let job = job(Op::Private, 2, 4);
        let rules = Rules::new(&measure, &job);
        let going = Standing {
            rounds: 3,
            contestants: 2,
            elapsed_ns: 500_000_000,
            last_round_ns: 200_000_000,
            operations: 799,
            precision: Some(0.02),
        };
        assert!(!rules.is_enough(&going));
        let ends = [
            Standing {
                precision: Some(0.01),
                ..going
            },
            Standing {
                operations: 800,
                ..going
            },
            Standing { rounds: 9, ..going },
            Standing {
                elapsed_ns: 1_900_000_001,
                ..going
            },
        ];
        for standing in ends {
            assert!(rules.is_enough(&standing), "{standing:?}");
            assert!(
                !rules.is_enough(&Standing {
                    rounds: 2,
                    ..standing
                }),
                "{standing:?}"
            );
        }
        assert!(!rules.is_enough(&Standing {
            elapsed_ns: 1_900_000_000,
            ..going
        }));
        assert!(!rules.is_enough(&Standing {
            precision: None,
            ..going
        }));
    }

    #[test]
    fn counted_calls_are_neither_more_nor_fewer_than_the_repeats() {
        for (repeats, block_calls, min_blocks) in [
            (100, 10, 10),
            (100, 3, 6),
            (7, 10, 6),
            (1, 10, 6),
            (5, 1, 2),
            (101, 2, 50),
        ] {
            let measure = Measure {
                precision: 0.0,
                repeats: Some(repeats),
                block_calls: Some(block_calls),
                min_blocks,
                max_blocks: min_blocks,
                budget_s: 1e4,
                ..Measure::default()
            };
            let rules = Rules::new(&measure, &job(Op::TextDecrypt, 2, 1));
            let mut standing = Standing {
                contestants: 1,
                ..Standing::default()
            };
            while !rules.is_enough(&standing) {
                let block = measure.block_plan(standing.rounds);
                standing.operations += block.calls.unwrap();
                standing.rounds += 1;
            }
            assert_eq!(standing.operations, repeats, "{measure:?}");
            assert!(standing.rounds as u64 >= repeats.min(min_blocks as u64));
            assert_eq!(rules.share(&standing), 1.0);
        }
    }

    #[test]
    fn a_text_is_one_call_whatever_its_threads() {
        let measure = Measure {
            repeats: Some(10),
            min_blocks: 1,
            precision: 0.0,
            ..Measure::default()
        };
        let job = job(Op::TextEncrypt, 8, 1);
        let rules = Rules::new(&measure, &job);
        let nine = Standing {
            rounds: 1,
            contestants: 1,
            operations: 9,
            ..Standing::default()
        };
        assert!(!rules.is_enough(&nine));
        assert!(rules.is_enough(&Standing {
            operations: 10,
            ..nine
        }));
    }

    #[test]
    fn the_share_is_that_of_the_first_rule_to_end_it() {
        let measure = Measure {
            precision: 0.01,
            budget_s: 1.0,
            min_blocks: 4,
            max_blocks: 100,
            ..Measure::default()
        };
        let job = job(Op::Private, 1, 1);
        let rules = Rules::new(&measure, &job);
        let standing = Standing {
            rounds: 8,
            contestants: 2,
            elapsed_ns: 500_000_000,
            ..Standing::default()
        };
        assert_eq!(rules.share(&standing), 0.25);
        assert_eq!(
            rules.share(&Standing {
                precision: Some(0.02),
                elapsed_ns: 0,
                ..standing
            }),
            0.25
        );
        assert_eq!(
            rules.share(&Standing {
                rounds: 1,
                precision: Some(0.001),
                ..standing
            }),
            0.25
        );
        assert_eq!(rules.share(&Standing::default()), 0.0);
    }
}
