//! Which jobs are done, and under which conditions.

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Exponent, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey, ensure, kit,
};
use rsalab_rsa::{PrivateKey, PrivateParts};

use crate::{
    ends::{Ends, Signer, Version},
    runner::Handshakes,
};

/// Signer and version of TLS; the default first.
const VARIANTS: [(&str, (Signer, Version)); 6] = [
    ("own", (Signer::Own, Version::Tls13)),
    ("ring", (Signer::Ring, Version::Tls13)),
    ("aws-lc", (Signer::AwsLc, Version::Tls13)),
    ("own-tls12", (Signer::Own, Version::Tls12)),
    ("ring-tls12", (Signer::Ring, Version::Tls12)),
    ("aws-lc-tls12", (Signer::AwsLc, Version::Tls12)),
];

/// Keys that all three take: ring makes signatures with 2048 to 4096 bits.
const BITS: std::ops::RangeInclusive<usize> = 2048..=4096;

/// rustls as an engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct RustlsEngine;

impl Engine for RustlsEngine {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: "rustls".to_owned(),
            // None of the crates states its own; a test compares with the lock file.
            version: "rustls 0.23.46, ring 0.17.14, aws-lc-rs 1.19.0".to_owned(),
            origin: "the crates rustls, ring, aws-lc-rs and rsalab-rustls".to_owned(),
            cpu_path: None,
            variants: kit::names(&VARIANTS),
            optimised: OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        ensure!(!job.bare, "a server never signs without its key's protections");
        if !job.op.is_handshake() {
            return Err(kit::not_done("rustls", job.op));
        }
        ensure!(
            BITS.contains(&job.bits) && job.bits.is_multiple_of(2),
            "ring signs with keys of {} to {} bits, and all signers are to have the same",
            BITS.start(),
            BITS.end()
        );
        ensure!(
            job.exponent == Exponent::F4,
            "certificates are made for the exponent 65537"
        );
        let (signer, version) = kit::variant(job, &VARIANTS)?;
        let ledger = Ledger::native(match job.op {
            Op::HandshakeServer => {
                "both ends' configurations, the key; the client's first message before the time, and the end of the \
                 handshake after it"
            }
            Op::HandshakeResumed => "both ends' configurations, an earlier session",
            _ => "both ends' configurations, the key",
        });
        Ok(match job.op {
            Op::HandshakeResumed => Ledger {
                padding: Some(format!("{}, no signature", version.name())),
                ..ledger
            },
            // ring: `RsaKeyPair::sign` in `rsa/keypair.rs` raises the result to e and compares, and does not blind.
            // AWS-LC: `rsa_default_private_transform` in `rsa_impl.c` does both.
            _ => Ledger {
                crt: Some(true),
                blinding: Some(signer != Signer::Ring),
                result_check: Some(true),
                constant_time: Some(true),
                padding: Some(format!("{}, {}", version.name(), version.scheme_name())),
                ..ledger
            },
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let (signer, version) = kit::variant(job, &VARIANTS)?;
        let key = private_key(kit::key(job, keys)?)?;
        Ok(Box::new(Handshakes {
            ends: Ends::new(&key, signer, version)?,
            signer,
            job: job.clone(),
        }))
    }
}

fn private_key(key: &StudyKey) -> Result<PrivateKey, EngineError> {
    PrivateKey::from_parts(&PrivateParts {
        n: &key.n,
        e: &key.e,
        d: &key.d,
        p: &key.p,
        q: &key.q,
        dp: &key.dp,
        dq: &key.dq,
        qinv: &key.qinv,
        others: &[],
    })
    .map_err(|error| EngineError::Key(error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{certificate::certificate, handshake::Begun};

    /// A server with another key than its certificate's signs something that the client rejects.
    #[test]
    fn a_signature_under_another_key_ends_the_handshake() {
        let [key, other] = [1, 2].map(|_| PrivateKey::generate(2048).unwrap());
        for (name, (signer, version)) in VARIANTS {
            let of = |key: &PrivateKey| {
                let certificate = certificate(&other).unwrap();
                let ends = Ends::with_certificate(certificate, key, signer, version).unwrap();
                let begun = Begun::new(&ends.client(false).unwrap())?;
                begun.answer(&ends.server)?.complete(&[7; 32], &mut [0; 33])
            };
            assert_eq!(of(&other), Ok(()), "{name}");
            let refused = of(&key).unwrap_err().to_string();
            assert!(refused.starts_with("the client failed"), "{name}: {refused}");
        }
    }
}
