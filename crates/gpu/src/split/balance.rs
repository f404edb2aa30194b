//! How a batch is cut: by what both sides were seen to take.

use std::time::Duration;

/// How long both sides take.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(super) struct Balance {
    /// Seconds an item of all the CPU's threads together.
    cpu: Option<f64>,
    /// Seconds of the device for a single item, once that was tried.
    one: Option<f64>,
    gpu: Option<Device>,
}

/// Seconds for any batch, and for each item of it.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Device {
    start: f64,
    item: f64,
}

/// How much a new measurement counts beside all earlier ones.
const NEWEST: f64 = 0.25;

impl Balance {
    /// How many items of a batch the device gets: as many as let both end at once, none where the CPU is done before
    /// the device would have begun to be of use.
    pub(super) fn share(&self, items: usize) -> usize {
        let (Some(cpu), Some(Device { start, item })) = (self.cpu, self.gpu) else {
            return 0;
        };
        let together = (items as f64 * cpu - start) / (cpu + item);
        // Also NaN, which no comparison holds for.
        if together >= 1.0 {
            (together as usize).min(items)
        } else {
            0
        }
    }

    pub(super) fn saw_cpu(&mut self, items: usize, took: Duration) {
        if items > 0 {
            let now = took.as_secs_f64() / items as f64;
            self.cpu = Some(mixed(self.cpu, now));
        }
    }

    /// A batch of the device: what it took beyond its start is the items'.
    pub(super) fn saw_gpu(&mut self, items: usize, took: Duration) {
        if let Some(device) = &mut self.gpu {
            let now = ((took.as_secs_f64() - device.start) / items.max(1) as f64).max(0.0);
            device.item = mixed(Some(device.item), now);
        }
    }

    /// Returns whether the device is to be tried on a batch of so many, of which it has not done any: it is, unless it
    /// is known to take longer for a single item than the CPU takes for all.
    pub(super) fn wants_trial(&self, items: usize) -> bool {
        let of_use = |cpu: f64| self.one.is_none_or(|one| one < items as f64 * cpu);
        items > 1 && self.gpu.is_none() && self.cpu.is_some_and(of_use)
    }

    /// A trial of the device: one item.
    pub(super) fn tried_one(&mut self, took: Duration) {
        self.one = Some(took.as_secs_f64());
    }

    /// And several.
    pub(super) fn tried_several(&mut self, items: usize, took: Duration) {
        let (one, took) = (self.one.unwrap_or(0.0), took.as_secs_f64());
        let item = match items {
            0 | 1 => 0.0,
            items => ((took - one) / (items - 1) as f64).max(0.0),
        };
        self.gpu = Some(Device {
            start: (one - item).max(0.0),
            item,
        });
    }
}

pub(super) fn mixed(before: Option<f64>, now: f64) -> f64 {
    before.map_or(now, |before| before + NEWEST * (now - before))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn balance(cpu: f64, start: f64, item: f64) -> Balance {
        Balance {
            cpu: Some(cpu),
            gpu: Some(Device { start, item }),
            ..Balance::default()
        }
    }

    #[test]
    fn a_batch_is_cut_where_both_end_at_once() {
        // The device starts in as long as the CPU takes for ten items, and is four times as fast then.
        let balance = balance(1.0, 10.0, 0.25);
        assert_eq!(balance.share(0), 0);
        assert_eq!(balance.share(10), 0);
        assert_eq!(balance.share(11), 0);
        assert_eq!(balance.share(12), 1);
        for items in [12, 100, 10_000] {
            let gpu = balance.share(items);
            let (cpu_ends, gpu_ends) = ((items - gpu) as f64, 10.0 + gpu as f64 * 0.25);
            assert!((cpu_ends - gpu_ends).abs() <= 1.25, "{items}");
        }
    }

    #[test]
    fn an_unmeasured_device_gets_nothing_and_a_free_one_almost_everything() {
        assert_eq!(Balance::default().share(1000), 0);
        assert_eq!(balance(0.0, 0.0, 0.0).share(1000), 0);
        assert_eq!(balance(1.0, 0.0, 0.0).share(1000), 1000);
        assert_eq!(balance(1.0, 0.0, 1000.0).share(1000), 0);
    }

    #[test]
    fn measurements_are_mixed_and_starts_are_no_items() {
        let mut balance = Balance::default();
        balance.saw_cpu(0, Duration::from_secs(9));
        assert_eq!(balance.cpu, None);
        balance.saw_cpu(4, Duration::from_secs(4));
        balance.saw_cpu(1, Duration::from_secs(2));
        assert_eq!(balance.cpu, Some(1.25));
        assert!(balance.wants_trial(2) && !balance.wants_trial(1));
        balance.tried_one(Duration::from_secs(3));
        assert!(balance.wants_trial(3) && !balance.wants_trial(2));
        balance.tried_several(11, Duration::from_secs(8));
        assert!(!balance.wants_trial(1000));
        assert_eq!(balance.gpu, Some(Device { start: 2.5, item: 0.5 }));
        balance.saw_gpu(10, Duration::from_millis(12_500));
        assert_eq!(balance.gpu.unwrap().item, 0.625);
        balance.tried_several(1, Duration::from_secs(3));
        assert_eq!(balance.gpu.unwrap().item, 0.0);
    }
}
