//! Numbers as people read them, in the program and in a report: four significant digits, grouped thousands, a unit that
//! fits, an interval or an error.

use std::time::Duration;

use rsalab_measure::Estimate;

const DIGITS: i32 = 4;

/// Four significant digits, with thousands grouped: `2,848`, `0.01234`, `1.500`. A dash for what is no number.
pub fn significant(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    if value == 0.0 {
        return "0".to_owned();
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
    match text.as_str() {
        "1.000" => near_one(value),
        _ => grouped(&text),
    }
}

/// A value that is 1 to four digits, with as many more as tell it from 1, up to seven: `1.0004`. A ratio of 1.000 that
/// is no 1 says nothing.
fn near_one(value: f64) -> String {
    const MOST: usize = 6;
    let decimals = DIGITS as usize - 1;
    let shown = (decimals..=MOST).map(|decimals| format!("{value:.decimals$}"));
    let told = shown.into_iter().find(|text| text.trim_end_matches('0') != "1.");
    told.unwrap_or_else(|| format!("{value:.decimals$}"))
}

/// The fewest characters that give the value to four digits, for the marks of an axis: `1,500`, `20 k`, `2.5 M`,
/// `10⁻⁵`.
pub fn short(value: f64) -> String {
    match value.abs() {
        0.0 => "0".to_owned(),
        size if !(1e-3..1e9).contains(&size) => power_of_ten(value),
        size if size >= 1e6 => format!("{} M", without_zeros(value / 1e6)),
        size if size >= 1e4 => format!("{} k", without_zeros(value / 1e3)),
        _ => without_zeros(value),
    }
}

fn power_of_ten(value: f64) -> String {
    const RAISED: [char; 10] = ['⁰', '¹', '²', '³', '⁴', '⁵', '⁶', '⁷', '⁸', '⁹'];
    let text = format!("{value:e}");
    let (factor, power) = text.split_once('e').expect("this format has an exponent");
    let raised: String = power
        .chars()
        .map(|digit| digit.to_digit(10).map_or('⁻', |it| RAISED[it as usize]))
        .collect();
    match factor {
        "1" => format!("10{raised}"),
        _ => {
            let factor = factor.parse().expect("it was a number");
            format!("{} × 10{raised}", without_zeros(factor))
        }
    }
}

fn without_zeros(value: f64) -> String {
    let text = significant(value);
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}

/// Every digit that somebody else has printed, with thousands grouped.
pub fn as_printed(value: f64) -> String {
    grouped(&value.to_string())
}

/// The power of ten of the first digit, once the others are rounded away: 99.999 is 100.0.
fn magnitude_after_rounding(value: f64) -> i32 {
    let text = format!("{value:.*e}", DIGITS as usize - 1);
    let (_, exponent) = text.split_once('e').expect("this format has an exponent");
    exponent.parse().expect("the exponent is a number")
}

/// A value and its interval, `351.2 (350.8 to 351.9)`.
pub fn with_interval(estimate: &Estimate) -> String {
    format!("{} {}", significant(estimate.value), interval(estimate))
}

/// The interval alone, `(350.8 to 351.9)`; that there is none where there is none.
pub fn interval(estimate: &Estimate) -> String {
    match estimate.confidence > 0.0 {
        true => format!("({} to {})", significant(estimate.low), significant(estimate.high)),
        false => "(no interval)".to_owned(),
    }
}

/// Half the width of an interval, relative to its value: `±0.4 %`; `±?` where there is no interval, as of one value.
pub fn error(estimate: &Estimate) -> String {
    if estimate.confidence <= 0.0 {
        return "±?".to_owned();
    }
    match estimate.relative_error() * 100.0 {
        percent if !percent.is_finite() => "±?".to_owned(),
        percent if percent < 0.05 => "±<0.1 %".to_owned(),
        percent if percent < 10.0 => format!("±{percent:.1} %"),
        percent => format!("±{percent:.0} %"),
    }
}

/// A time in the unit that fits it: `346.7 µs`.
pub fn duration(ns: f64) -> String {
    let (factor, unit) = time_unit(ns);
    format!("{} {unit}", significant(ns / factor))
}

/// A time to wait, to the second: `1 min 15 s`; of days, to the hour.
pub fn wait(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (hours @ 48.., _, _) => format!("{} days {:02} h", whole(hours / 24), hours % 24),
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

/// The interval of a time in the unit that fits the time: `(345.9 to 347.1)`.
pub fn duration_interval(ns: &Estimate) -> String {
    let (factor, _) = time_unit(ns.value);
    interval(&ns.scaled(1.0 / factor))
}

/// A whole number with thousands grouped.
pub fn whole(count: u64) -> String {
    grouped(&count.to_string())
}

/// `1 thread`, `2 threads`.
pub fn counted(count: usize, noun: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{} {noun}{plural}", grouped(&count.to_string()))
}

/// Words in a row: `a`, `a and b`, `a, b and c`.
pub fn listed(words: &[&str]) -> String {
    match words {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [first @ .., last] => format!("{} and {last}", first.join(", ")),
    }
}

/// One number, or the range of several: `100`, `0 to 10`.
pub fn span(numbers: impl Iterator<Item = u64>) -> String {
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

/// A truth value as R and pandas read one.
pub(crate) fn logical(value: bool) -> &'static str {
    match value {
        true => "TRUE",
        false => "FALSE",
    }
}

/// A share as a percentage without idle zeros: `95 %`, `99.5 %`.
pub fn percent(share: f64) -> String {
    let text = format!("{:.2}", share * 100.0);
    format!("{} %", text.trim_end_matches('0').trim_end_matches('.'))
}

/// The unit that fits a time: its nanoseconds, and its sign.
pub(crate) fn time_unit(ns: f64) -> (f64, &'static str) {
    match ns {
        ns if ns < 1e3 => (1.0, "ns"),
        ns if ns < 1e6 => (1e3, "µs"),
        ns if ns < 1e9 => (1e6, "ms"),
        _ => (1e9, "s"),
    }
}

fn grouped(number: &str) -> String {
    let (sign, number) = number.strip_prefix('-').map_or(("", number), |rest| ("-", rest));
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
    fn a_ratio_that_is_not_1_has_the_digits_that_say_so() {
        assert_eq!(significant(1.0), "1.000");
        assert_eq!(significant(1.0004), "1.0004");
        assert_eq!(significant(0.99996), "0.99996");
        assert_eq!(significant(1.000_003), "1.000003");
        assert_eq!(significant(1.000_000_1), "1.000");
        assert_eq!(significant(1.001), "1.001");
    }

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
            (f64::NAN, "–"),
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
            assert_eq!(duration(ns), text);
        }
        let estimate = Estimate {
            value: 2e6,
            low: 1.9e6,
            high: 2.2e6,
            confidence: 0.95,
            n: 9,
        };
        assert_eq!(duration(estimate.value), "2.000 ms");
        assert_eq!(duration_interval(&estimate), "(1.900 to 2.200)");
        let alone = Estimate {
            confidence: 0.0,
            ..estimate
        };
        assert_eq!(with_interval(&alone), "2,000,000 (no interval)");
        assert_eq!(error(&estimate), "±10 %");
        let narrow = Estimate {
            low: 1.9999e6,
            high: 2.0001e6,
            ..estimate
        };
        assert_eq!(error(&narrow), "±<0.1 %");
        // One sample has no spread, and nothing is known of it.
        assert_eq!(error(&alone), "±?");
        let shown = [3, 75, 3_700, 3 * 86_400 + 7_200].map(Duration::from_secs).map(wait);
        assert_eq!(shown, ["3 s", "1 min 15 s", "1 h 01 min", "3 days 02 h"]);
    }

    #[test]
    fn marks_of_an_axis_are_short() {
        for (value, words) in [
            (0.0, "0"),
            (0.5, "0.5"),
            (1.0, "1"),
            (1500.0, "1,500"),
            (20_000.0, "20 k"),
            (2_500_000.0, "2.5 M"),
            (0.005, "0.005"),
            (1e-5, "10⁻⁵"),
            (2e-4, "2 × 10⁻⁴"),
            (5e9, "5 × 10⁹"),
        ] {
            assert_eq!(short(value), words);
        }
    }

    #[test]
    fn nouns_follow_their_number() {
        assert_eq!(counted(1, "thread"), "1 thread");
        assert_eq!(counted(20_000, "symbol"), "20,000 symbols");
    }
}
