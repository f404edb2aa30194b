//! What the article printed, as data.

use std::sync::LazyLock;

use serde::Deserialize;

/// The article's numbers; each list has a value for primes of 512, 768 and 1024 bits.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Published {
    pub(super) pairs: Pairs,
    pub(super) steps: Steps,
    pub(super) times: Times,
}

/// Section 3.1, in ticks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pairs {
    pub(super) count: u64,
    pub(super) minimum: [f64; 3],
    pub(super) maximum: [f64; 3],
    pub(super) mean: [f64; 3],
}

/// Table 1, in ticks.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Steps {
    pub(super) totient: [f64; 3],
    pub(super) private_exponent: [f64; 3],
    pub(super) encryption: [f64; 3],
    pub(super) decryption: [f64; 3],
}

/// Section 4, in seconds.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Times {
    pub(super) clock_hz: f64,
    pub(super) pair_s: [f64; 3],
    pub(super) million_s: [f64; 3],
    pub(super) serial_s: f64,
    pub(super) parallel_s: f64,
    pub(super) overhead: f64,
    pub(super) gain: [f64; 2],
    pub(super) steps_s: [f64; 3],
}

/// The article's numbers.
pub(super) static PUBLISHED: LazyLock<Published> = LazyLock::new(|| {
    toml::from_str(include_str!("published.toml")).expect("the file is a part of this program")
});

#[cfg(test)]
mod tests {
    use super::*;

    /// Section 4.1 divides section 3.1 by the clock, and 4.2 adds up Table 1: where its results are not these quotients and
    /// sums, remarks say so, and only there.
    #[test]
    fn the_articles_arithmetic_holds_but_where_remarks_say_so() {
        let Published {
            pairs,
            steps,
            times,
        } = &*PUBLISHED;
        assert_eq!(pairs.count, 1_000_000);
        let microseconds = |s: f64| (s * 1e6).round();
        let of_pairs = pairs.mean.map(|ticks| microseconds(ticks / times.clock_hz));
        let printed = times.pair_s.map(microseconds);
        assert_eq!(of_pairs, [1_537.0, 5_672.0, 15_131.0]);
        assert_eq!(printed, [1_537.0, 5_677.0, 15_130.0]);
        let sums: Vec<f64> = (0..3)
            .map(|place| {
                let ticks = steps.totient[place]
                    + steps.private_exponent[place]
                    + steps.encryption[place]
                    + steps.decryption[place];
                microseconds(ticks / times.clock_hz)
            })
            .collect();
        assert_eq!(sums, [185.0, 479.0, 1_121.0]);
        assert_eq!(times.steps_s.map(microseconds), [188.0, 472.0, 1_110.0]);
        assert_eq!(times.million_s.iter().sum::<f64>(), times.serial_s);
        let parallel = times.serial_s / 2.0 * times.overhead;
        assert_eq!((parallel.round(), times.parallel_s), (15_082.0, 15_083.0));
    }
}
