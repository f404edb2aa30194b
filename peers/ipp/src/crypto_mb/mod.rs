//! The engine `crypto_mb`.

mod block;
mod ffi;

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Exponent, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey, ensure, kit,
};

use crate::library::{Absent, Opened, folder, static_text};
use block::{LANES, Operation, PreparedBlocks};
use ffi::{Functions, Version};

/// The sizes of modulus that it has code for, with the number of each in `enum MBX_ALGO`.
const SIZES: [(usize, i32); 4] = [(1024, 0), (2048, 1), (3072, 2), (4096, 3)];

/// The one exponent of its public operation.
const EXPONENT: Exponent = Exponent::F4;

/// Variants of the private operation, the default first.
const PRIVATE: [(&str, Operation); 2] = [("crt", Operation::PrivateCrt), ("plain", Operation::PrivatePlain)];

/// crypto_mb as an engine.
#[derive(Debug)]
pub struct CryptoMb {
    functions: Functions,
    version: String,
    origin: String,
    cpu: String,
}

impl CryptoMb {
    /// The engine, on the library in the folder of [`folder`].
    pub fn new() -> Result<Self, Absent> {
        // The library itself names no place where they are. Order: who is needed by another comes first.
        const NEEDED: [&str; 5] = [
            "libintlc.so.5",
            "libimf.so",
            "libirng.so",
            "libsvml.so",
            "libcrypto.so.3",
        ];
        let library = Opened::open(&folder()?, "libcrypto_mb.so.13", &NEEDED)?;
        // SAFETY: the signatures are those of the headers of interface version 13, which the file's name states.
        let functions = unsafe { Functions::of(&library) }?;
        // SAFETY: no arguments, no preconditions; the answer is a static record.
        let version: &Version = unsafe { &*(functions.mbx_getversion)() };
        let cpu: String = version
            .target_cpu
            .iter()
            .take_while(|byte| **byte != 0)
            .map(|byte| char::from(*byte))
            .collect();
        let engine = Self {
            functions,
            version: format!("{}.{}.{}", version.major, version.minor, version.patch),
            origin: library.path.display().to_string(),
            // SAFETY: a static string.
            cpu: format!("{cpu}: {}", unsafe { static_text(version.text) }),
        };
        if SIZES.iter().any(|(_, number)| engine.runs(*number)) {
            Ok(engine)
        } else {
            Err(Absent::NotOnThisCpu(
                "crypto_mb has no code for this CPU, which lacks AVX-512 IFMA and AVX-IFMA".to_owned(),
            ))
        }
    }

    fn runs(&self, algorithm: i32) -> bool {
        // SAFETY: any number may be asked for.
        unsafe { (self.functions.mbx_get_algo_info)(algorithm) != 0 }
    }
}

impl Engine for CryptoMb {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "crypto_mb".to_owned(),
            version: self.version.clone(),
            origin: self.origin.clone(),
            cpu_path: Some(self.cpu.clone()),
            variants: kit::names(&PRIVATE),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        if job.bare {
            return Err("crypto_mb neither blinds nor checks in any variant; leave out the wish for a bare one".into());
        }
        let operation = operation(job)?;
        let Some((_, number)) = SIZES.iter().find(|(bits, _)| *bits == job.bits) else {
            return Err("crypto_mb has code for 1024, 2048, 3072 and 4096 bits only".into());
        };
        ensure!(
            self.runs(*number),
            "crypto_mb has no code of {} bits for this CPU",
            job.bits
        );
        const SETUP: &str = "none in the library: it derives the Montgomery constants in every call; a batch that is no \
                             multiple of 8 is filled up with zeros";
        let ledger = Ledger {
            lanes: LANES,
            ..Ledger::native(SETUP)
        };
        Ok(match operation {
            Operation::PrivateCrt | Operation::PrivatePlain => Ledger {
                crt: Some(operation == Operation::PrivateCrt),
                blinding: Some(false),
                result_check: Some(false),
                constant_time: Some(true),
                ..ledger
            },
            Operation::Public => Ledger {
                exponent: Some(EXPONENT),
                ..ledger
            },
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let key = kit::key(job, keys)?;
        let blocks = PreparedBlocks::new(&self.functions, operation(job)?, key)?;
        Ok(Box::new(blocks))
    }
}

/// Returns the operation that a job asks for.
fn operation(job: &Job) -> Result<Operation, Reason> {
    match job.op {
        Op::Private => kit::variant(job, &PRIVATE),
        Op::Public if job.exponent == EXPONENT => kit::only_variant(job).map(|()| Operation::Public),
        Op::Public => Err(Reason(format!(
            "crypto_mb's public operation has the exponent {EXPONENT} built in"
        ))),
        other => Err(kit::not_done("crypto_mb", other)),
    }
}
