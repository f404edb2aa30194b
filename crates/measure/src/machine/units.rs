//! Bytes and rates in units for people.

pub(super) fn in_binary_units(bytes: u64) -> String {
    let (unit, name) = match bytes {
        0..0x10_0000 => (1u64 << 10, "KiB"),
        0x10_0000..0x4000_0000 => (1 << 20, "MiB"),
        _ => (1 << 30, "GiB"),
    };
    let rounded = (bytes as f64 / unit as f64 * 10.0).round() / 10.0;
    format!("{rounded} {name}")
}

pub(super) fn in_ghz(hz: f64) -> String {
    format!("{:.3} GHz", hz / 1e9)
}
