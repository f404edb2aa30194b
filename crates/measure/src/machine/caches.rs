//! The caches, as the kernel lists them.

use serde::{Deserialize, Serialize};

use super::units::in_binary_units;
use crate::system_files::SystemFiles;

/// One cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    /// 1 is the nearest.
    pub level: u32,
    /// The content: data, instructions, or both.
    pub kind: CacheKind,
    /// Its size.
    pub size_bytes: u64,
    /// How many CPUs use it together.
    pub shared_by_cpus: usize,
}

/// The content of a cache.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheKind {
    /// Data.
    Data,
    /// Instructions.
    Instruction,
    /// Both.
    Unified,
}

/// The caches of a CPU, smallest level first.
pub(super) fn of_cpu(files: &SystemFiles, cpu: usize) -> Vec<Cache> {
    let folder = format!("/sys/devices/system/cpu/cpu{cpu}/cache");
    let mut caches: Vec<Cache> = files
        .numbered(&folder, "index")
        .into_iter()
        .filter_map(|index| {
            let file = |name: &str| format!("{folder}/index{index}/{name}");
            Some(Cache {
                level: files.number(file("level")).ok()?,
                kind: match files.text(file("type")).ok()?.as_str() {
                    "Data" => CacheKind::Data,
                    "Instruction" => CacheKind::Instruction,
                    _ => CacheKind::Unified,
                },
                size_bytes: parse_size(&files.text(file("size")).ok()?)?,
                shared_by_cpus: files.list(file("shared_cpu_list")).map_or(1, |cpus| cpus.len()),
            })
        })
        .collect();
    caches.sort_by_key(|cache| cache.level);
    caches
}

/// One line for a table.
pub(super) fn in_words(caches: &[Cache]) -> String {
    let list: Vec<String> = caches
        .iter()
        .map(|cache| {
            let kind = match cache.kind {
                CacheKind::Data => "d",
                CacheKind::Instruction => "i",
                CacheKind::Unified => "",
            };
            let shared = match cache.shared_by_cpus {
                1 => String::new(),
                cpus => format!(" for {cpus} CPUs"),
            };
            format!("L{}{kind} {}{shared}", cache.level, in_binary_units(cache.size_bytes))
        })
        .collect();
    if list.is_empty() {
        return "not known".to_owned();
    }
    list.join(", ")
}

/// `32K`, `4M` or plain bytes.
fn parse_size(text: &str) -> Option<u64> {
    let digits = text.trim_end_matches(['K', 'M', 'G']);
    let unit: u64 = match &text[digits.len()..] {
        "" => 1,
        "K" => 1 << 10,
        "M" => 1 << 20,
        "G" => 1 << 30,
        _ => return None,
    };
    digits.parse::<u64>().ok()?.checked_mul(unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_have_units() {
        assert_eq!(parse_size("48K"), Some(48 << 10));
        assert_eq!(parse_size("260M"), Some(260 << 20));
        assert_eq!(parse_size("512"), Some(512));
        for nonsense in ["", "K", "4KM", "x", "-1K", "99999999999999999999G"] {
            assert_eq!(parse_size(nonsense), None, "{nonsense}");
        }
    }
}
