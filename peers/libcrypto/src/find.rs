//! Finding a libcrypto and opening it, for good.

use std::{
    error::Error,
    ffi::{CStr, c_void},
    fs,
    path::Path,
};

use libloading::Library;
use rsalab_peer_evp::{MissingFunction, Table};

use crate::v1_0_2::{address as stand_in, prepare as prepare_1_0_2};

/// Names under which the loader knows libcrypto, the newest first.
#[cfg(target_os = "macos")]
const NAMES: [&str; 4] = [
    "libcrypto.4.dylib",
    "libcrypto.3.dylib",
    "libcrypto.1.1.dylib",
    "libcrypto.dylib",
];
#[cfg(windows)]
const NAMES: [&str; 3] = ["libcrypto-4-x64.dll", "libcrypto-3-x64.dll", "libcrypto-1_1-x64.dll"];
#[cfg(not(any(target_os = "macos", windows)))]
const NAMES: [&str; 5] = [
    "libcrypto.so.4",
    "libcrypto.so.3",
    "libcrypto.so.1.1",
    "libcrypto.so.1.0.2",
    "libcrypto.so",
];

/// A library that is open.
pub(crate) struct Found {
    /// Its file, as far as it is known.
    pub(crate) origin: String,
    /// Its functions, or the first that it lacks.
    pub(crate) table: Result<Table, MissingFunction>,
}

/// The newest libcrypto that the loader finds by one of the usual names.
pub(crate) fn newest() -> Option<Found> {
    NAMES.iter().find_map(|name| open(Path::new(name)).ok())
}

/// Opens a library, by path or by a name that the loader looks up.
pub(crate) fn open(path: &Path) -> Result<Found, String> {
    // SAFETY: loading runs the library's initialisers. Those of OpenSSL may run at any time; that it is a libcrypto is
    // the word of whoever named it, as with any library that a program is started with.
    let library = unsafe { Library::new(path) }.map_err(|error| reason(&error))?;
    // Never closed: OpenSSL leaves handlers behind that run when threads and the process end.
    let library: &'static Library = Box::leak(Box::new(library));
    let is_1_0_2 = prepare_1_0_2(library);
    let address = |name: &CStr| -> Option<*const c_void> {
        // SAFETY: the symbol is taken as an address only.
        unsafe { library.get::<*const c_void>(name) }
            .ok()
            .map(|symbol| *symbol)
            .or_else(|| is_1_0_2.then(|| stand_in(name))?)
    };
    let origin = address(c"BN_new")
        .and_then(mapped_file)
        .unwrap_or_else(|| path.display().to_string());
    // SAFETY: the addresses are those that the library gives for the names; it is OpenSSL's by the word above, and
    // stays loaded. An older or foreign one is refused by its version before anything else is called.
    let table = unsafe { Table::resolve(address) };
    Ok(Found { origin, table })
}

/// Returns what the loader said: libloading keeps it behind its own words.
fn reason(error: &libloading::Error) -> String {
    error.source().map_or_else(|| error.to_string(), ToString::to_string)
}

/// The file that the address lies in, where the system says so (Linux).
fn mapped_file(address: *const c_void) -> Option<String> {
    let maps = fs::read_to_string("/proc/self/maps").ok()?;
    file_at(&maps, address as usize)
}

/// Lines are `from-to permissions offset device inode   file`.
fn file_at(maps: &str, address: usize) -> Option<String> {
    let line = maps.lines().find(|line| {
        let bounds = line.split_once(' ').and_then(|(range, _)| range.split_once('-'));
        let bound = |text| usize::from_str_radix(text, 16).ok();
        bounds.is_some_and(
            |(from, to)| matches!((bound(from), bound(to)), (Some(from), Some(to)) if (from..to).contains(&address)),
        )
    })?;
    line.find('/').map(|start| line[start..].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_file_of_an_address_is_read_from_the_maps() {
        let maps = "1000-2000 r-xp 00000000 fe:01 12   /usr/lib/libcrypto.so.3\n2000-3000 rw-p 00000000 00:00 0 \n";
        assert_eq!(file_at(maps, 0x1fff).as_deref(), Some("/usr/lib/libcrypto.so.3"));
        assert_eq!(file_at(maps, 0x2000), None);
        assert_eq!(file_at(maps, 0x3000), None);
    }
}
