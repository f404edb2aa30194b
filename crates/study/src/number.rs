//! Numbers as people read them: four significant digits, grouped thousands, a unit that fits.

use rsalab_measure::Estimate;

const DIGITS: i32 = 4;

/// Four significant digits, with thousands grouped: `2,848`, `0.01234`, `1.5`.
pub(crate) fn significant(value: f64) -> String {
    if value == 0.0 || !value.is_finite() {
        return format!("{value}");
    }
    let magnitude = magnitude_after_rounding(value);
    if !(-6..12).contains(&magnitude) {
        return format!("{value:.3e}");
    }
    let decimals = DIGITS - 1 - magnitude;
    if decimals < 0 {
        // Digits beyond the significant ones would claim what was not measured.
        let unit = 10_f64.powi(-decimals);
        return grouped(&format!("{:.0}", (value / unit).round() * unit));
    }
    let text = format!("{value:.*}", decimals as usize);
    grouped(&text)
}

/// Every digit that somebody else has printed, with thousands grouped.
pub(crate) fn as_printed(value: f64) -> String {
    grouped(&value.to_string())
}

/// The power of ten of the first digit, once the others are rounded away: 99.999 is 100.0.
fn magnitude_after_rounding(value: f64) -> i32 {
    let text = format!("{value:.*e}", DIGITS as usize - 1);
    let (_, exponent) = text.split_once('e').expect("this form has an exponent");
    exponent.parse().expect("the exponent is a number")
}

/// A value and its interval, `351.2 (350.8 to 351.9)`.
pub(crate) fn with_interval(estimate: &Estimate) -> String {
    format!("{} {}", significant(estimate.value), interval(estimate))
}

/// The interval alone, `(350.8 to 351.9)`; that there is none where there is none.
pub(crate) fn interval(estimate: &Estimate) -> String {
    match estimate.confidence > 0.0 {
        true => format!(
            "({} to {})",
            significant(estimate.low),
            significant(estimate.high)
        ),
        false => "(no interval)".to_owned(),
    }
}

/// A time in the unit that fits it, and its interval in the same.
pub(crate) fn duration_and_interval(ns: &Estimate) -> (String, String) {
    let (factor, unit) = time_unit(ns.value);
    let scaled = ns.scaled(1.0 / factor);
    (
        format!("{} {unit}", significant(scaled.value)),
        interval(&scaled),
    )
}

/// A whole number with thousands grouped.
pub(crate) fn whole(count: u64) -> String {
    grouped(&count.to_string())
}

/// `1 thread`, `2 threads`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(&count.to_string()))
}

/// One number, or the range of several: `100`, `0 to 10`.
pub(crate) fn span(numbers: impl Iterator<Item = u64>) -> String {
    let bounds = numbers.fold(None, |bounds: Option<(u64, u64)>, number| {
        let (low, high) = bounds.unwrap_or((number, number));
        Some((low.min(number), high.max(number)))
    });
    match bounds {
        Some((low, high)) if low < high => format!("{low} to {high}"),
        Some((low, _)) => low.to_string(),
        None => "no".to_owned(),
    }
}

/// A share as a percentage without idle zeros: `95 %`, `99.5 %`.
pub(crate) fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

fn time_unit(ns: f64) -> (f64, &'static str) {
    match ns {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

fn grouped(number: &str) -> String {
    let (sign, number) = number
        .strip_prefix('-')
        .map_or(("", number), |rest| ("-", rest));
    let (whole, fraction) = match number.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (number, String::new()),
    };
    let groups: Vec<&str> = whole
        .as_bytes()
        .rchunks(3)
        .rev()
        .map(|group| std::str::from_utf8(group).expect("digits are ASCII"))
        .collect();
    format!("{sign}{}{fraction}", groups.join(","))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_and_groups() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.000"),
            (0.012_345, "0.01235"),
            (99.999, "100.0"),
            (2848.4, "2,848"),
            (123_456.0, "123,500"),
            (-1_234.6, "-1,235"),
            (1e-9, "1.000e-9"),
            (1e13, "1.000e13"),
            (f64::INFINITY, "inf"),
        ] {
            assert_eq!(significant(value), text);
        }
    }

    #[test]
    fn the_unit_fits() {
        for (ns, text) in [
            (351.2, "351.2 ns"),
            (351_200.0, "351.2 µs"),
            (35_120_000.0, "35.12 ms"),
            (3.5e9, "3.500 s"),
        ] {
            let (factor, unit) = time_unit(ns);
            assert_eq!(format!("{} {unit}", significant(ns / factor)), text);
        }
        let estimate = Estimate {
            value: 2e6,
            low: 1.9e6,
            high: 2.2e6,
            confidence: 0.95,
            n: 9,
        };
        let expected = ("2.000 ms".to_owned(), "(1.900 to 2.200)".to_owned());
        assert_eq!(duration_and_interval(&estimate), expected);
        let alone = Estimate {
            confidence: 0.0,
            ..estimate
        };
        assert_eq!(with_interval(&alone), "2,000,000 (no interval)");
    }

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(counted(1, "thread"), "1 thread");
        assert_eq!(counted(20_000, "symbol"), "20,000 symbols");
    }
}
