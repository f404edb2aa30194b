//! Handshakes by the worker and by the engine.

use std::collections::BTreeSet;

use rsalab_engines::{
    Engine, EngineError, Exponent, Job, Mode, Op, Registry, StudyKey, conformance,
    conformance::Scope,
    inputs,
    op::{HANDSHAKE_FULL, HANDSHAKE_RESUMED},
    verify,
};
use rsalab_peer_rustls::RustlsEngine;

const PEER: conformance::Peer = conformance::Peer {
    name: "rustls",
    program: env!("CARGO_BIN_EXE_rsalab-peer-rustls"),
};

const OPS: [Op; 3] = [Op::Handshake, Op::HandshakeServer, Op::HandshakeResumed];

fn key() -> StudyKey {
    StudyKey::from_seed(&conformance::test_seed(), 2048, Exponent::F4).unwrap()
}

#[test]
fn the_worker_conforms_in_every_variant() {
    for variant in RustlsEngine.info().variants {
        let scope = Scope {
            sizes: vec![(1024, 1), (2048, 9)],
            keys: Vec::new(),
            variant: Some(variant),
            ..Scope::of_the_environment()
        };
        let tried = conformance::assert_worker_conforms(&PEER.location(), &scope);
        assert_eq!(tried, BTreeSet::from(OPS));
    }
}

#[test]
fn the_worker_introduces_itself_as_the_engine() {
    PEER.introduces_itself(&RustlsEngine);
}

#[test]
fn the_versions_are_those_that_are_built() {
    let lock = include_str!("../../../../Cargo.lock");
    for named in RustlsEngine.info().version.split(", ") {
        let (name, version) = named.split_once(' ').unwrap();
        let entry = format!("name = \"{name}\"\nversion = \"{version}\"");
        assert!(lock.contains(&entry), "{named}");
    }
}

#[test]
fn full_ones_are_full_and_resumed_ones_resumed_again_and_again() {
    let key = key();
    for op in OPS {
        for variant in ["own", "ring-tls12"] {
            let job = Job {
                variant: Some(variant.to_owned()),
                batch: 3,
                mode: Mode::Throughput,
                ..Job::new(op, 2048)
            };
            let prepared = RustlsEngine.prepare(&job, std::slice::from_ref(&key)).unwrap();
            let nonces = inputs(&job, &key, &conformance::test_seed(), 1, 6);
            let mut runner = prepared.runner().unwrap();
            runner.keep(&mut nonces.chunks(96)).unwrap();
            for _ in 0..3 {
                let mut outputs = vec![0; 6 * 33];
                // As the harness does: batches first, their results later, in order.
                for (batch, (nonces, output)) in nonces.chunks(96).zip(outputs.chunks_mut(99)).enumerate() {
                    runner.run_kept(batch, nonces, output).unwrap();
                }
                for (batch, output) in outputs.chunks_mut(99).enumerate() {
                    runner.collect(batch, output).unwrap();
                }
                assert_eq!(verify(&job, &key, &nonces, &outputs), Ok(()));
                let kind = if op == Op::HandshakeResumed {
                    HANDSHAKE_RESUMED
                } else {
                    HANDSHAKE_FULL
                };
                assert!(outputs.chunks(33).all(|output| output[32] == kind));
            }
            let short = runner.run(&nonces[1..], &mut [0; 6 * 33]);
            assert!(matches!(short, Err(EngineError::Length { .. })));
        }
    }
}

#[test]
fn what_is_not_done_has_a_reason() {
    let reason = |job: Job| RustlsEngine.supports(&job).unwrap_err().0;
    assert!(reason(Job::new(Op::Sign, 2048)).contains("does not do 'sign'"));
    assert!(reason(Job::new(Op::Handshake, 1024)).contains("2048 to 4096"));
    let named = |variant: &str| Job {
        variant: Some(variant.to_owned()),
        ..Job::new(Op::Handshake, 2048)
    };
    assert!(reason(named("openssl")).contains("own, ring, aws-lc, own-tls12"));
    let other = Job {
        exponent: Exponent::Fixed(3),
        ..Job::new(Op::Handshake, 2048)
    };
    assert!(reason(other).contains("65537"));
    let blinding = |variant| RustlsEngine.supports(&named(variant)).unwrap().blinding;
    assert_eq!(
        (blinding("own"), blinding("ring"), blinding("aws-lc")),
        (Some(true), Some(false), Some(true))
    );
}

/// It is measured where it is named, and installed like any peer.
#[test]
fn the_registry_knows_it() {
    let registry = Registry::of_this_program().unwrap();
    assert_eq!(registry.select("rustls:own").unwrap().engine.name, "rustls");
}
