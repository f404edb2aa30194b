//! Properties of any values, any machine, any course of a run.

use proptest::prelude::*;
use rsalab_measure::{
    Block, Sample, Schedule, Topology,
    stats::{Bootstrap, Summary, median_interval, median_over_blocks, ratio_of_rates},
    topology::Cpu,
};

fn times() -> impl Strategy<Value = Vec<f64>> {
    prop::collection::vec(1.0..1e9f64, 1..60)
}

fn blocks(count: std::ops::Range<usize>) -> impl Strategy<Value = Vec<Vec<f64>>> {
    prop::collection::vec(prop::collection::vec(1.0..1e6f64, 1..8), count)
}

/// Any machine: sockets of cores of 1 to 4 hardware threads, numbered at random, some not allowed.
fn topology() -> impl Strategy<Value = Topology> {
    (1..3usize, 1..6usize, 1..5usize)
        .prop_flat_map(|(packages, cores, threads)| {
            let cpus = packages * cores * threads;
            (
                Just((cores, threads)),
                Just((0..cpus).collect::<Vec<usize>>()).prop_shuffle(),
                prop::collection::vec(any::<bool>(), cpus),
                0..cpus,
            )
        })
        .prop_map(|((cores, threads), ids, allowed, always_allowed)| {
            let mut cpus: Vec<Cpu> = ids
                .chunks(threads)
                .enumerate()
                .flat_map(|(core, siblings)| {
                    let allowed = &allowed;
                    siblings.iter().enumerate().map(move |(smt_index, &id)| Cpu {
                        id,
                        core: siblings.iter().copied().min().unwrap_or(id),
                        package: core / cores,
                        numa_node: core / cores,
                        smt_index,
                        capacity: None,
                        allowed: allowed[id] || id == always_allowed,
                    })
                })
                .collect();
            cpus.sort_by_key(|cpu| cpu.id);
            Topology {
                cpus,
                quota: None,
                unknown: None,
            }
        })
}

fn block_of(ns: u64) -> Block {
    Block {
        samples: vec![Sample {
            elapsed_ns: ns,
            tsc_ticks: None,
            operations: 1,
        }],
        discarded_operations: 0,
        discarded_ns: None,
        started_ns: 0,
        elapsed_ns: ns,
    }
}

proptest! {
    #[test]
    fn a_median_lies_in_its_interval_whatever_the_order(values in times(), factor in 0.001..1000.0f64) {
        let estimate = median_interval(&values, 0.95).unwrap();
        prop_assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
        prop_assert!((0.0..=1.0).contains(&estimate.confidence));
        let reversed: Vec<f64> = values.iter().rev().copied().collect();
        prop_assert_eq!(median_interval(&reversed, 0.95).unwrap(), estimate);
        let scaled: Vec<f64> = values.iter().map(|value| value * factor).collect();
        let scaled = median_interval(&scaled, 0.95).unwrap();
        prop_assert!((scaled.low - estimate.low * factor).abs() <= 1e-9 * scaled.low);
        prop_assert!((scaled.high - estimate.high * factor).abs() <= 1e-9 * scaled.high);
    }

    #[test]
    fn a_surer_interval_is_wider(values in times()) {
        let narrow = median_interval(&values, 0.5).unwrap();
        let wide = median_interval(&values, 0.99).unwrap();
        prop_assert!(wide.low <= narrow.low && narrow.high <= wide.high);
        prop_assert!(wide.confidence >= narrow.confidence);
    }

    #[test]
    fn a_summary_is_in_order(values in times()) {
        let summary = Summary::of(&values).unwrap();
        let quartiles = summary.stabilised;
        // Means of equal values may be off by rounding.
        let in_order = |left: f64, right: f64| left <= right * (1.0 + 1e-12);
        prop_assert!(in_order(summary.min, quartiles.q1));
        prop_assert!(in_order(quartiles.q1, quartiles.median));
        prop_assert!(in_order(quartiles.median, quartiles.q3));
        prop_assert!(in_order(quartiles.q3, summary.max));
        prop_assert!(in_order(summary.min, summary.mean) && in_order(summary.mean, summary.max));
        prop_assert!(summary.min <= summary.median && summary.median <= summary.max);
    }

    #[test]
    fn blocks_in_any_order_have_one_median(blocks in blocks(1..12)) {
        let estimate = median_over_blocks(&blocks, 0.95).unwrap();
        prop_assert!(estimate.low <= estimate.value && estimate.value <= estimate.high);
        prop_assert_eq!(estimate.value, Summary::of(&blocks.concat()).unwrap().median);
        let reversed: Vec<Vec<f64>> = blocks.iter().rev().cloned().collect();
        let again = median_over_blocks(&reversed, 0.95).unwrap();
        prop_assert_eq!((again.value, again.low, again.high), (estimate.value, estimate.low, estimate.high));
    }

    #[test]
    fn a_ratio_turned_over_is_its_reciprocal(pairs in prop::collection::vec((1.0..1e6f64, 1.0..1e6f64), 2..12)) {
        let block = |ns: f64| Block {
            samples: vec![Sample { elapsed_ns: ns as u64, tsc_ticks: None, operations: 1 }],
            discarded_operations: 0,
            discarded_ns: None,
            started_ns: 0,
            elapsed_ns: ns as u64,
        };
        let (left, right): (Vec<Block>, Vec<Block>) =
            pairs.iter().map(|&(left, right)| (block(left), block(right))).unzip();
        let bootstrap = Bootstrap::default();
        let ratio = ratio_of_rates(&left, &right, &bootstrap).unwrap();
        let turned = ratio_of_rates(&right, &left, &bootstrap).unwrap().reciprocal();
        prop_assert!(ratio.low <= ratio.value && ratio.value <= ratio.high);
        for (one, other) in [(ratio.value, turned.value), (ratio.low, turned.low), (ratio.high, turned.high)] {
            prop_assert!((one / other - 1.0).abs() < 1e-9, "{ratio:?} {turned:?}");
        }
    }

    #[test]
    fn threads_go_to_allowed_cpus_and_cores_first(topology in topology(), threads in 0..60usize) {
        let allowed = topology.allowed_cpus();
        let placement = topology.placement(threads);
        prop_assert_eq!(placement.cpus.len(), threads);
        prop_assert_eq!(placement.oversubscribed, threads > allowed);
        let cpu = |id: usize| topology.cpus.iter().find(|cpu| cpu.id == id).unwrap();
        prop_assert!(placement.cpus.iter().all(|&id| cpu(id).allowed));
        let distinct = |ids: &[usize], of: fn(&Cpu) -> usize| {
            let mut seen: Vec<usize> = ids.iter().map(|&id| of(cpu(id))).collect();
            seen.sort_unstable();
            seen.dedup();
            seen.len()
        };
        // As many different cores as threads, as long as there are cores; as many CPUs, as long as there are CPUs.
        for given in 0..=threads {
            let ids = &placement.cpus[..given];
            prop_assert_eq!(distinct(ids, |cpu| cpu.core), given.min(topology.allowed_cores()));
            prop_assert_eq!(distinct(ids, |cpu| cpu.id), given.min(allowed));
        }
        prop_assert_eq!(
            placement.shares_cores,
            distinct(&placement.cpus, |cpu| cpu.core) < distinct(&placement.cpus, |cpu| cpu.id)
        );
    }

    #[test]
    fn whatever_fails_the_others_go_through_all_rounds(
        subjects in 1..6usize,
        max_rounds in 1..12usize,
        failures in prop::collection::vec(0..60usize, 0..4),
        seed in any::<u64>(),
    ) {
        let mut schedule = Schedule::new(seed, 0.95, subjects);
        let mut slots = 0;
        while schedule.rounds() < max_rounds && let Some(slot) = schedule.next_slot() {
            match failures.contains(&slots) {
                true => schedule.fail(slot.subject),
                false => schedule.record(slot, &block_of(1000 + slots as u64)),
            }
            slots += 1;
        }
        let whole: Vec<usize> = (0..max_rounds).collect();
        let is_left = schedule.subjects().iter().any(|subject| !subject.failed());
        prop_assert_eq!(schedule.next_slot().is_some(), is_left);
        for subject in schedule.subjects() {
            prop_assert!(subject.failed() || subject.rounds() == &whole[..]);
            prop_assert_eq!(subject.rounds(), &whole[..subject.rounds().len()]);
        }
    }
}
