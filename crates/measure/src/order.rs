//! Does it matter who was measured before? A test over the stored order of turns.
//!
//! A subject may leave the core at a lower clock, caches cold, or a buffer mapped badly for the one that follows.
//! Orders are drawn at random, so such an effect widens intervals rather than favouring anyone; but where it is large
//! the figures describe the predecessor as well as the subject, and the report should say so.

use rand::{SeedableRng, seq::SliceRandom};
use rand_chacha::ChaCha12Rng;
use serde::{Deserialize, Serialize};

use crate::stats::{median::median_of_sorted, sorted};

/// One turn as the test sees it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Visit {
    /// Whose turn it was.
    pub subject: usize,
    /// The measured value: one for the block, such as its median.
    pub value: f64,
}

/// How one subject's values depend on its predecessor.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredecessorEffect {
    /// Whose values were tested.
    pub subject: usize,
    /// Its values, by predecessor, in ascending order of predecessor.
    pub groups: Vec<PredecessorGroup>,
    /// The Kruskal–Wallis statistic over the groups.
    pub h: f64,
    /// The probability of so large a statistic where the predecessor does not matter.
    pub p_value: f64,
    /// The largest group median divided by the smallest.
    pub largest_ratio: f64,
}

/// The values measured after one predecessor.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct PredecessorGroup {
    /// The subject that was measured before.
    pub predecessor: usize,
    /// How many values there are.
    pub n: usize,
    /// Their median.
    pub median: f64,
}

/// Tests each subject for an effect of its predecessor, from all turns in the order in which they were taken.
///
/// The statistic is Kruskal and Wallis's (JASA 47, 1952) with their correction for ties. Groups are small, so its
/// distribution is not taken from χ² but from random permutations of the values over the groups, seeded: as many as
/// show whether the probability is small (Besag and Clifford, "Sequential Monte Carlo p-values", Biometrika 78, 1991),
/// and so many at most that one of `k` subjects can be told at the level 0.01 / `k`. The first turn has no predecessor.
/// Subjects with fewer than two predecessors, or fewer than four values, are left out. With `k` subjects, compare the
/// smallest `p_value` with the level divided by `k`.
pub fn predecessor_effects(visits: &[Visit], seed: u64) -> Vec<PredecessorEffect> {
    let subjects = visits.iter().map(|visit| visit.subject + 1).max().unwrap_or(0);
    let most = (PERMUTATIONS_EACH * subjects).max(PERMUTATIONS);
    (0..subjects)
        .filter_map(|subject| predecessor_effect(visits, subject, seed, most))
        .collect()
}

const MIN_VALUES: usize = 4;
/// The most permutations, of a few subjects.
const PERMUTATIONS: usize = 2000;
/// The most for each subject where there are many: ten times what a probability of 0.01 / k takes to be seen.
const PERMUTATIONS_EACH: usize = 1000;
/// Statistics as large as the one that was measured after which it is no rare one: their share is known to a fifth.
const NO_RARITY: usize = 25;

fn predecessor_effect(visits: &[Visit], subject: usize, seed: u64, most: usize) -> Option<PredecessorEffect> {
    let (predecessors, values): (Vec<usize>, Vec<f64>) = visits
        .windows(2)
        .filter(|pair| pair[1].subject == subject)
        .map(|pair| (pair[0].subject, pair[1].value))
        .unzip();
    let mut distinct = predecessors.clone();
    distinct.sort_unstable();
    distinct.dedup();
    if distinct.len() < 2 || values.len() < MIN_VALUES {
        return None;
    }
    let group_of: Vec<usize> = predecessors
        .iter()
        .map(|predecessor| distinct.partition_point(|other| other < predecessor))
        .collect();

    let mut ranks = Ranks::of(&values);
    let h = ranks.kruskal_wallis(&group_of, distinct.len());
    let mut rng = ChaCha12Rng::seed_from_u64(seed);
    rng.set_stream(subject as u64);
    // Equal statistics must count as equal although their sums were rounded in another order.
    let as_large = h * (1.0 - 1e-9);
    let (mut at_least, mut drawn) = (0, 0);
    while drawn < most && at_least < NO_RARITY {
        ranks.ranks.shuffle(&mut rng);
        drawn += 1;
        at_least += usize::from(ranks.kruskal_wallis(&group_of, distinct.len()) >= as_large);
    }

    let groups: Vec<PredecessorGroup> = distinct
        .iter()
        .map(|&predecessor| {
            let group: Vec<f64> = values
                .iter()
                .zip(&predecessors)
                .filter(|&(_, &of)| of == predecessor)
                .map(|(&value, _)| value)
                .collect();
            PredecessorGroup {
                predecessor,
                n: group.len(),
                median: median_of_sorted(&sorted(&group)).expect("a predecessor has a value"),
            }
        })
        .collect();
    let medians = || groups.iter().map(|group| group.median);
    let largest_ratio = medians().fold(f64::MIN, f64::max) / medians().fold(f64::MAX, f64::min);
    Some(PredecessorEffect {
        subject,
        groups,
        h,
        p_value: match at_least < NO_RARITY {
            // The order that was measured is one of the permutations.
            true => (at_least + 1) as f64 / (drawn + 1) as f64,
            false => at_least as f64 / drawn as f64,
        },
        largest_ratio,
    })
}

/// The ranks of values, equal ones sharing the mean of theirs.
struct Ranks {
    ranks: Vec<f64>,
    /// `1 − Σ(t³ − t)/(n³ − n)` over ties of `t` values; 0 if all are equal.
    tie_correction: f64,
}

impl Ranks {
    fn of(values: &[f64]) -> Self {
        let n = values.len();
        let mut order: Vec<usize> = (0..n).collect();
        order.sort_by(|&left, &right| values[left].total_cmp(&values[right]));
        let mut ranks = vec![0.0; n];
        let mut ties = 0.0;
        let mut below = 0;
        for tied in order.chunk_by(|&left, &right| values[left] == values[right]) {
            let size = tied.len() as f64;
            for &i in tied {
                ranks[i] = below as f64 + (size + 1.0) / 2.0;
            }
            ties += size.powi(3) - size;
            below += tied.len();
        }
        let n = n as f64;
        Ranks {
            ranks,
            tie_correction: 1.0 - ties / (n.powi(3) - n),
        }
    }

    /// The statistic H; 0 if all values are equal.
    fn kruskal_wallis(&self, group_of: &[usize], groups: usize) -> f64 {
        if self.tie_correction <= 0.0 {
            return 0.0;
        }
        let mut sums = vec![(0.0, 0.0); groups];
        for (rank, &group) in self.ranks.iter().zip(group_of) {
            sums[group].0 += rank;
            sums[group].1 += 1.0;
        }
        let n = self.ranks.len() as f64;
        let between: f64 = sums.iter().map(|(sum, count)| sum * sum / count).sum();
        (12.0 / (n * (n + 1.0)) * between - 3.0 * (n + 1.0)) / self.tie_correction
    }
}

#[cfg(test)]
mod tests {
    use rand::RngExt;

    use super::*;

    #[test]
    fn the_statistic_is_that_of_the_literature() {
        // Three groups without ties: rank sums 12, 31 and 35 of 4 values each.
        let values = [1.0, 2.0, 4.0, 5.0, 3.0, 8.0, 9.0, 11.0, 6.0, 7.0, 10.0, 12.0];
        let groups = [0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2, 2];
        let h = Ranks::of(&values).kruskal_wallis(&groups, 3);
        let by_hand = 12.0 / (12.0 * 13.0) * (144.0 + 961.0 + 1225.0) / 4.0 - 39.0;
        assert!((h - by_hand).abs() < 1e-12);
        // Ties share ranks, and the correction is for them.
        let ranks = Ranks::of(&[5.0, 5.0, 7.0, 1.0]);
        assert_eq!(ranks.ranks, [2.5, 2.5, 4.0, 1.0]);
        assert!((ranks.tie_correction - 0.9).abs() < 1e-12);
        assert_eq!(Ranks::of(&[3.0; 5]).kruskal_wallis(&[0, 0, 1, 1, 1], 2), 0.0);
    }

    /// Rounds of three subjects in random order; subject 2 is slower by `effect` after subject 0.
    fn visits(seed: u64, rounds: usize, effect: f64) -> Vec<Visit> {
        let mut rng = ChaCha12Rng::seed_from_u64(seed);
        let mut visits: Vec<Visit> = Vec::new();
        for _ in 0..rounds {
            let mut order = [0, 1, 2];
            order.shuffle(&mut rng);
            for subject in order {
                let after_first = visits.last().is_some_and(|visit| visit.subject == 0);
                let factor = if subject == 2 && after_first { effect } else { 1.0 };
                let noise = 1.0 + 0.02 * rng.random::<f64>();
                visits.push(Visit {
                    subject,
                    value: 100.0 * factor * noise,
                });
            }
        }
        visits
    }

    #[test]
    fn a_planted_effect_is_found_where_it_is() {
        let effects = predecessor_effects(&visits(1, 40, 1.03), 9);
        assert_eq!(effects.len(), 3);
        assert!(effects[2].p_value < 0.001, "{:?}", effects[2]);
        assert!((effects[2].largest_ratio - 1.03).abs() < 0.01);
        let slow = &effects[2].groups[0];
        assert_eq!(slow.predecessor, 0);
        assert!(effects[2].groups[1..].iter().all(|group| group.median < slow.median));
        assert_eq!(effects, predecessor_effects(&visits(1, 40, 1.03), 9));
    }

    #[test]
    fn an_effect_on_one_of_many_subjects_is_told_from_chance() {
        // Forty subjects: the level for each is 0.00025.
        let mut rng = ChaCha12Rng::seed_from_u64(3);
        let mut visits: Vec<Visit> = Vec::new();
        for _ in 0..60 {
            let mut order: Vec<usize> = (0..40).collect();
            order.shuffle(&mut rng);
            for subject in order {
                let is_after_low = visits.last().is_some_and(|visit| visit.subject < 20);
                let factor = if subject == 7 && is_after_low { 1.5 } else { 1.0 };
                let noise = 1.0 + 0.02 * rng.random::<f64>();
                visits.push(Visit {
                    subject,
                    value: 100.0 * factor * noise,
                });
            }
        }
        let effects = predecessor_effects(&visits, 9);
        let remarked: Vec<usize> = effects
            .iter()
            .filter(|effect| effect.p_value < 0.01 / 40.0)
            .map(|effect| effect.subject)
            .collect();
        assert_eq!(remarked, [7]);
    }

    #[test]
    fn without_an_effect_p_values_are_uniform() {
        let p_values: Vec<f64> = (0..200)
            .flat_map(|seed| predecessor_effects(&visits(seed, 12, 1.0), seed))
            .map(|effect| effect.p_value)
            .collect();
        assert_eq!(p_values.len(), 600);
        for level in [0.05, 0.5] {
            let below = p_values.iter().filter(|&&p| p <= level).count() as f64 / 600.0;
            let standard_error = (level * (1.0 - level) / 600.0f64).sqrt();
            assert!((below - level).abs() < 4.0 * standard_error, "{below} below {level}");
        }
    }

    #[test]
    fn too_little_is_no_test() {
        assert!(predecessor_effects(&[], 0).is_empty());
        // Two subjects strictly in turn: each has one predecessor only.
        let alternating: Vec<Visit> = (0..20)
            .map(|i| Visit {
                subject: i % 2,
                value: i as f64,
            })
            .collect();
        assert!(predecessor_effects(&alternating, 0).is_empty());
        let equal: Vec<Visit> = [0, 1, 1, 0, 0, 1, 0, 1, 1, 0]
            .map(|subject| Visit { subject, value: 5.0 })
            .to_vec();
        assert!(
            predecessor_effects(&equal, 0)
                .iter()
                .all(|effect| effect.p_value == 1.0)
        );
    }
}
