//! Numbers as people read them: four significant digits, a unit, an error.

use std::time::Duration;

use rsalab_measure::Estimate;

/// A number with four significant digits, thousands apart.
pub(crate) fn number(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let magnitude = value.abs();
    let decimals = match magnitude {
        _ if magnitude >= 1000.0 || magnitude == 0.0 => 0,
        _ => (3 - magnitude.log10().floor() as i32).clamp(0, 9) as usize,
    };
    let fixed = format!("{value:.decimals$}");
    let (whole, fraction) = match fixed.split_once('.') {
        Some((whole, fraction)) => (whole, format!(".{fraction}")),
        None => (fixed.as_str(), String::new()),
    };
    format!("{}{fraction}", thousands(whole))
}

/// A time in the unit that suits it.
pub(crate) fn time_ns(ns: f64) -> String {
    let (scaled, unit) = match ns {
        _ if ns < 1e3 => (ns, "ns"),
        _ if ns < 1e6 => (ns / 1e3, "µs"),
        _ if ns < 1e9 => (ns / 1e6, "ms"),
        _ => (ns / 1e9, "s"),
    };
    format!("{} {unit}", number(scaled))
}

/// Half the width of an interval, relative to its estimate.
pub(crate) fn error(estimate: &Estimate) -> String {
    let percent = estimate.relative_error() * 100.0;
    match percent {
        _ if !percent.is_finite() => "±?".to_owned(),
        _ if percent < 10.0 => format!("±{percent:.1} %"),
        _ => format!("±{percent:.0} %"),
    }
}

/// A time to wait, to the second.
pub(crate) fn wait(time: Duration) -> String {
    let seconds = time.as_secs();
    match (seconds / 3600, seconds / 60 % 60, seconds % 60) {
        (0, 0, seconds) => format!("{seconds} s"),
        (0, minutes, seconds) => format!("{minutes} min {seconds:02} s"),
        (hours, minutes, _) => format!("{hours} h {minutes:02} min"),
    }
}

/// `1 block`, `2 blocks`.
pub(crate) fn counted(count: usize, noun: &str) -> String {
    let ending = if count == 1 { "" } else { "s" };
    format!("{} {noun}{ending}", thousands(&count.to_string()))
}

/// A whole number, with its thousands apart.
pub(crate) fn whole(number: u64) -> String {
    thousands(&number.to_string())
}

fn thousands(digits: &str) -> String {
    let (sign, digits) = match digits.strip_prefix('-') {
        Some(digits) => ("-", digits),
        None => ("", digits),
    };
    let mut grouped = String::from(sign);
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_have_four_digits() {
        let shown = [
            0.0,
            0.01234,
            1.0,
            28.846,
            345.67,
            2884.6,
            1_234_567.8,
            -5432.0,
            f64::NAN,
        ]
        .map(number);
        let expected = [
            "0",
            "0.01234",
            "1.000",
            "28.85",
            "345.7",
            "2,885",
            "1,234,568",
            "-5,432",
            "–",
        ];
        assert_eq!(shown, expected);
    }

    #[test]
    fn times_have_units() {
        let shown = [12.0, 346_700.0, 2.5e6, 61e9].map(time_ns);
        assert_eq!(shown, ["12.00 ns", "346.7 µs", "2.500 ms", "61.00 s"]);
        let shown = [3, 75, 3_700].map(|seconds| wait(Duration::from_secs(seconds)));
        assert_eq!(shown, ["3 s", "1 min 15 s", "1 h 01 min"]);
    }

    #[test]
    fn nouns_have_numbers() {
        let shown = [1, 2000].map(|count| counted(count, "block"));
        assert_eq!(shown, ["1 block", "2,000 blocks"]);
    }
}
