//! Fuzz targets: functions that take any bytes and must return.
//!
//! A target panics if something is wrong: a parser that panics, a kernel that differs from the portable one, an encoder
//! whose output is not read as what it was made of. [`TARGETS`] lists them all; those of the C library and of the
//! OpenSSL provider, which have global allocators of their own, are in the crates `fuzz/c` and `fuzz/provider`.
//!
//! | command | what it does |
//! |---|---|
//! | `tests/corpus.rs`, in `make test` | every target on its seeds, on damaged seeds, and on what was found before |
//! | `scripts/fuzz.sh` | libFuzzer, guided by coverage, by way of `fuzz/runner` |
//! | `scripts/fuzz.sh totals` | prints what was run so far (`fuzz/totals.csv`) |
//! | `scripts/fuzz-coverage.sh` | prints which part of each parser's lines the inputs of `make test` reach |
//!
//! | question | file |
//! |---|---|
//! | keys, certificates, passwords | `keys` |
//! | encodings of messages; signatures and ciphertexts of strangers | `schemes` |
//! | kernels against the portable one | `kernels` |
//! | files and lines: plans, reports, parts, workers, texts, sealed files, audits | `files` |
//! | what fuzzing begins with | `seeds` |
//! | bytes as choices and values | `input` |
//! | targets on seeds and on what is kept, for tests | `replay` |
#![forbid(unsafe_code)]

mod files;
pub mod input;
mod kernels;
mod keys;
pub mod replay;
mod schemes;
pub mod seeds;

/// Something that takes bytes of a stranger.
pub struct Target {
    /// Its name, in the command line and of its folders.
    pub name: &'static str,
    /// Takes any bytes; panics if something is wrong.
    pub run: fn(&[u8]),
    /// Inputs that fuzzing begins with.
    pub seeds: fn() -> Vec<Vec<u8>>,
}

/// Every target.
pub static TARGETS: &[Target] = &[
    Target {
        name: "private-key",
        run: keys::private,
        seeds: seeds::private_keys,
    },
    Target {
        name: "public-key",
        run: keys::public,
        seeds: seeds::public_keys,
    },
    Target {
        name: "key-set",
        run: keys::set,
        seeds: seeds::key_sets,
    },
    Target {
        name: "encrypted-key",
        run: keys::encrypted,
        seeds: seeds::encrypted_keys,
    },
    Target {
        name: "der",
        run: keys::der,
        seeds: seeds::der,
    },
    Target {
        name: "key-round-trip",
        run: keys::round_trip,
        seeds: seeds::numbers,
    },
    Target {
        name: "unpad",
        run: schemes::unpad,
        seeds: seeds::encodings,
    },
    Target {
        name: "verify",
        run: schemes::verify,
        seeds: seeds::encodings,
    },
    Target {
        name: "explain",
        run: schemes::explain,
        seeds: seeds::signed_encodings,
    },
    Target {
        name: "encode",
        run: schemes::encode,
        seeds: seeds::messages,
    },
    Target {
        name: "public-operation",
        run: kernels::public_operation,
        seeds: seeds::numbers,
    },
    Target {
        name: "private-operation",
        run: kernels::private_operation,
        seeds: seeds::numbers,
    },
    Target {
        name: "plan",
        run: files::plan,
        seeds: seeds::plans,
    },
    Target {
        name: "report",
        run: files::results,
        seeds: seeds::reports,
    },
    Target {
        name: "part-manifest",
        run: files::part_manifest,
        seeds: seeds::part_manifests,
    },
    Target {
        name: "worker-lines",
        run: files::worker_lines,
        seeds: seeds::worker_lines,
    },
    Target {
        name: "text-container",
        run: files::text_container,
        seeds: seeds::text_containers,
    },
    Target {
        name: "sealed-file",
        run: files::sealed_file,
        seeds: seeds::sealed_files,
    },
    Target {
        name: "audit",
        run: files::audit,
        seeds: seeds::audits,
    },
    Target {
        name: "database",
        run: files::database,
        seeds: seeds::databases,
    },
];

/// The target of this name.
pub fn target(name: &str) -> Option<&'static Target> {
    TARGETS.iter().find(|target| target.name == name)
}
