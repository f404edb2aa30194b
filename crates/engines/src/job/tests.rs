//! Which jobs make sense, and what a key shows of itself.

use super::*;

fn job(op: Op) -> Job {
    Job {
        op,
        bits: 1024,
        threads: 2,
        batch: 8,
        mode: Mode::Throughput,
        variant: None,
        bare: false,
        exponent: Exponent::F4,
        primes: 2,
        keys: 1,
        message_bits: None,
        message_bytes: if op == Op::SignMessage { 32 } else { 0 },
        symbols: 0,
        block_symbols: 0,
    }
}

fn text(op: Op, symbols: usize, block_symbols: usize) -> Job {
    Job {
        symbols,
        block_symbols,
        ..job(op)
    }
}

#[test]
fn a_sensible_job_of_each_operation_passes() {
    for op in Op::ALL {
        let job = if op.is_text() { text(op, 0, 127) } else { job(op) };
        assert_eq!(job.check(), Ok(()), "{op}");
    }
}

#[test]
fn each_senseless_job_is_refused_with_the_number_that_is_wrong() {
    let base = job(Op::Private);
    let cases = [
        (
            Job {
                keys: 3,
                ..base.clone()
            },
            "3 keys",
        ),
        (
            Job {
                keys: 0,
                ..base.clone()
            },
            "0 keys",
        ),
        (
            Job {
                keys: 2,
                ..job(Op::Public)
            },
            "'public' is not done under several keys",
        ),
        (
            Job {
                keys: 2,
                primes: 3,
                bits: 2048,
                ..base.clone()
            },
            "several keys have two primes",
        ),
        (
            Job {
                message_bytes: 1,
                ..base.clone()
            },
            "'private' does not sign a message",
        ),
        (
            Job {
                message_bytes: 0,
                ..job(Op::SignMessage)
            },
            "a message of 0 bytes",
        ),
        (
            Job {
                message_bytes: MAX_MESSAGE_BYTES,
                batch: 17,
                ..job(Op::SignMessage)
            },
            "longer than 67108864",
        ),
        (
            Job {
                bits: 255,
                ..base.clone()
            },
            "255",
        ),
        (
            Job {
                bits: 16385,
                ..base.clone()
            },
            "16385",
        ),
        (
            Job {
                exponent: Exponent::Fixed(1),
                ..base.clone()
            },
            "is 1;",
        ),
        (
            Job {
                exponent: Exponent::Fixed(65536),
                ..base.clone()
            },
            "65536",
        ),
        (
            Job {
                exponent: Exponent::Random,
                ..job(Op::PrimePair)
            },
            "a random exponent",
        ),
        (
            Job {
                threads: 0,
                ..base.clone()
            },
            "0 threads",
        ),
        (
            Job {
                threads: 1_000_000,
                ..base.clone()
            },
            "1000000 threads",
        ),
        (
            Job {
                batch: 0,
                ..base.clone()
            },
            "batch of 0",
        ),
        (
            Job {
                mode: Mode::Latency,
                ..base.clone()
            },
            "2 threads",
        ),
        (
            Job {
                symbols: 5,
                ..base.clone()
            },
            "takes no text",
        ),
        (
            Job {
                mode: Mode::Concurrent,
                ..base.clone()
            },
            "single items",
        ),
        (
            Job {
                message_bits: Some(1024),
                ..base.clone()
            },
            "messages of 1024 bits",
        ),
        (
            Job {
                message_bits: Some(8),
                ..job(Op::Keygen)
            },
            "takes no message",
        ),
        (
            Job {
                primes: 3,
                ..job(Op::Public)
            },
            "does not use the primes",
        ),
        (
            Job {
                primes: 4,
                ..base.clone()
            },
            "keys of 4 primes; 1024 bits have 2 to 3",
        ),
        (
            Job {
                primes: 1,
                ..base.clone()
            },
            "keys of 1 primes",
        ),
        (
            Job {
                primes: 3,
                exponent: Exponent::Random,
                ..base.clone()
            },
            "two primes only",
        ),
        (text(Op::TextEncrypt, 5, 0), "0 symbols"),
        (text(Op::TextDecrypt, 5, 128), "128 symbols"),
    ];
    for (job, part) in cases {
        let reason = job.check().expect_err(part).0;
        assert!(reason.contains(part), "{reason}");
    }
}

#[test]
fn a_text_takes_its_blocks() {
    for (symbols, blocks) in [(0, 0), (1, 1), (127, 1), (128, 2), (254, 2), (255, 3)] {
        let encrypt = text(Op::TextEncrypt, symbols, 127);
        assert_eq!(encrypt.text_blocks(), blocks);
        assert_eq!(encrypt.input_len(), Some(symbols));
        let decrypt = text(Op::TextDecrypt, symbols, 127);
        assert_eq!(decrypt.input_len(), Some(blocks * 128));
    }
    assert_eq!(job(Op::Private).text_blocks(), 0);
}

#[test]
fn the_engine_sees_the_block_operation_of_a_text() {
    let seen = text(Op::TextDecrypt, 1000, 100).engine_job();
    assert_eq!(seen, job(Op::Private));
    assert_eq!(seen.check(), Ok(()));
}

#[test]
fn a_key_does_not_show_itself() {
    let secret = vec![0xAB; 64];
    let key = StudyKey {
        bits: 1024,
        n: secret.clone(),
        e: vec![1, 0, 1],
        d: secret.clone(),
        p: secret.clone(),
        q: secret.clone(),
        dp: secret.clone(),
        dq: secret.clone(),
        qinv: secret.clone(),
        others: vec![StudyPrime {
            r: secret.clone(),
            d: secret.clone(),
            t: secret,
        }],
    };
    let shown = format!("{key:?}");
    assert!(
        !shown.contains("171") && !shown.to_lowercase().contains("ab"),
        "{shown}"
    );
}
