//! Data depend on the seed and the job, and wrong outputs are found.

use rsalab_engines::{Exponent, Mode};

use super::*;

fn job(op: Op) -> Job {
    let symbols = if op.is_text() { 100 } else { 0 };
    Job {
        op,
        bits: 512,
        threads: 1,
        batch: 1,
        mode: Mode::Throughput,
        variant: None,
        bare: false,
        exponent: Exponent::F4,
        primes: 2,
        keys: 1,
        message_bits: None,
        message_bytes: if op == Op::SignMessage { 100 } else { 0 },
        symbols,
        block_symbols: if op.is_text() { 63 } else { 0 },
    }
}

fn key_of(data: &JobData) -> &StudyKey {
    data.keys.first().expect("the operation takes a key")
}

fn test_data(first_byte: u8) -> TestData {
    let mut seed = Seed([0; 32]);
    seed.0[0] = first_byte;
    TestData::new(seed, &Arc::new(AtomicBool::new(false)))
}

#[test]
fn data_depend_on_the_seed_and_the_job_and_nothing_else() {
    let mut one = test_data(1);
    let private = one.of(&job(Op::Private)).unwrap();
    let threads = Job {
        threads: 4,
        variant: Some("powm".into()),
        bare: true,
        ..job(Op::Private)
    };
    assert!(Rc::ptr_eq(&private, &one.of(&threads).unwrap()));
    let public = one.of(&job(Op::Public)).unwrap();
    assert!(public.keys == private.keys, "one key for each size");
    assert_ne!(public.inputs, private.inputs);
    assert_eq!(test_data(1).of(&job(Op::Private)).unwrap().inputs, private.inputs);
    assert_ne!(test_data(2).of(&job(Op::Private)).unwrap().inputs, private.inputs);
    let larger = one
        .of(&Job {
            bits: 768,
            ..job(Op::Private)
        })
        .unwrap();
    assert_eq!((key_of(&larger).bits, larger.inputs.len()), (768, 16 * 96));
    let other_exponent = one
        .of(&Job {
            exponent: Exponent::Fixed(3),
            ..job(Op::Private)
        })
        .unwrap();
    assert_eq!(key_of(&other_exponent).e, [3]);
}

#[test]
fn a_text_is_decrypted_to_what_was_encrypted() {
    let mut test_data = test_data(1);
    let plain = test_data.of(&job(Op::TextEncrypt)).unwrap();
    let cipher = test_data.of(&job(Op::TextDecrypt)).unwrap();
    assert_eq!(plain.inputs.len(), 100);
    cipher.verify(&job(Op::TextDecrypt), &plain.inputs).unwrap();
    let mut wrong = cipher.inputs.clone();
    wrong[70] ^= 1;
    // What was proved right is so again, and nothing else is, nor is half of it.
    for _ in 0..2 {
        assert!(plain.verify(&job(Op::TextEncrypt), &wrong).is_err());
        plain.verify(&job(Op::TextEncrypt), &cipher.inputs).unwrap();
        assert!(plain.verify(&job(Op::TextEncrypt), &wrong[..64]).is_err());
        assert!(plain.verify(&job(Op::TextEncrypt), &cipher.inputs[..64]).is_err());
    }
}

#[test]
fn each_size_of_text_has_its_own_key_on_any_number_of_threads() {
    let mut test_data = test_data(1);
    let mut key_of = |op, symbols, threads| {
        let job = Job {
            symbols,
            threads,
            ..job(op)
        };
        key_of(&test_data.of(&job).unwrap()).n.clone()
    };
    let short = key_of(Op::TextEncrypt, 100, 1);
    assert_eq!(key_of(Op::TextEncrypt, 100, 8), short);
    assert_eq!(key_of(Op::TextDecrypt, 100, 3), short);
    assert_ne!(key_of(Op::TextEncrypt, 1_000, 1), short);
}

#[test]
fn items_under_several_keys_are_checked_each_under_its_own() {
    let mut test_data = test_data(1);
    let under = |keys| Job {
        keys,
        batch: 4,
        ..job(Op::Public)
    };
    let data = test_data.of(&under(4)).unwrap();
    let moduli: Vec<&[u8]> = data.keys.iter().map(|key| &key.n[..]).collect();
    assert_eq!(data.keys.len(), 4);
    assert!((1..4).all(|key| !moduli[..key].contains(&moduli[key])));
    assert_eq!(*key_of(&data), *key_of(&test_data.of(&under(1)).unwrap()));
    let powers = |order: [usize; 4]| -> Vec<u8> {
        let blocks = data.inputs.chunks(64).enumerate();
        let power = |(item, block): (usize, &[u8])| {
            let key = &data.keys[order[item % 4]];
            let [m, e, n] = [block, &key.e, &key.n].map(num_bigint::BigUint::from_bytes_be);
            let power = m.modpow(&e, &n).to_bytes_be();
            [vec![0; 64 - power.len()], power].concat()
        };
        blocks.flat_map(power).collect()
    };
    data.verify(&under(4), &powers([0, 1, 2, 3])).unwrap();
    let wrong = data.verify(&under(4), &powers([0, 1, 3, 2])).unwrap_err();
    assert_eq!(wrong.item, 2);
}

#[test]
fn everything_that_was_made_is_looked_at() {
    let keygen = job(Op::Keygen);
    let data = test_data(1).of(&keygen).unwrap();
    assert!(data.inputs.is_empty() && data.keys.is_empty());
    let keys = [1, 2, 3, 4, 5].map(|seed| {
        let key = test_data(seed).of(&job(Op::Private)).unwrap();
        let key = key_of(&key);
        [&key.p[..], &key.q, &key.d].concat()
    });
    data.verify_made(&keygen, &keys.concat()).unwrap();
    let first_wrong = |keys: &[Vec<u8>]| {
        let wrong = data.verify_made(&keygen, &keys.concat());
        wrong.unwrap_err().item
    };
    for item in 0..5 {
        let mut wrong = keys.clone();
        wrong[item][40] ^= 2;
        assert_eq!(first_wrong(&wrong), item);
    }
    // However the work is shared, the last one is not checked by who checks the first.
    let mut repeated = keys.clone();
    repeated[4] = keys[0].clone();
    assert_eq!(first_wrong(&repeated), 4);
}

#[test]
fn items_are_whole_batches() {
    for (batch, bits, expected) in [
        (1, 2048, 16),
        (8, 2048, 16),
        (10, 2048, 20),
        (100, 2048, 100),
        (1, 8192, 4),
    ] {
        assert_eq!(
            items(&Job {
                batch,
                bits,
                ..job(Op::Private)
            }),
            expected
        );
    }
}

#[test]
fn streams_differ_and_stay_below_those_of_keys() {
    let largest = Job {
        bits: *crate::plan::BITS.end(),
        batch: *crate::plan::BATCH.end(),
        symbols: *crate::plan::SYMBOLS.end(),
        ..job(Op::TextEncrypt)
    };
    assert!(stream(&largest) < 1 << 63);
    let jobs = [
        job(Op::Private),
        job(Op::Public),
        Job {
            bits: 1024,
            ..job(Op::Private)
        },
        Job {
            batch: 2,
            ..job(Op::Private)
        },
        job(Op::TextEncrypt),
        Job {
            symbols: 101,
            ..job(Op::TextEncrypt)
        },
        largest,
    ];
    for (index, one) in jobs.iter().enumerate() {
        assert!(
            jobs[..index].iter().all(|other| stream(other) != stream(one)),
            "{one:?}"
        );
    }
}

#[test]
fn a_wish_to_stop_does_not_wait_for_a_large_key() {
    let test_data = &mut TestData::new(Seed([7; 32]), &Arc::new(AtomicBool::new(true)));
    assert_eq!(
        test_data
            .of(&Job {
                bits: 8192,
                ..job(Op::Private)
            })
            .err(),
        Some(DataError::Stopped)
    );
}

#[test]
fn a_text_that_is_given_takes_the_place_of_random_ones() {
    let given = "All that is gold does not glitter, not all those who wander are lost; ".repeat(20);
    let mut test_data = test_data(1).with_text(Some(given.clone()));
    let encrypted = test_data.of(&job(Op::TextEncrypt)).unwrap();
    assert_eq!(encrypted.inputs, given.as_bytes()[..encrypted.inputs.len()]);
    assert!(!encrypted.inputs.is_empty());
    // What decryption is given is this text, encrypted.
    let decrypted = test_data.of(&job(Op::TextDecrypt)).unwrap();
    decrypted.verify(&job(Op::TextDecrypt), &encrypted.inputs).unwrap();
}
