//! Texts through blocks over threads: every length comes back, ciphertext does not depend on threads, damage is named.

use std::sync::LazyLock;

use proptest::prelude::*;
use rsalab_rsa::{
    Backend, BlockRunner, CpuBackend, Prepared, PrivateKey, Status,
    generate::{DEFAULT_EXPONENT, generate_strict},
    random::InsecureStudySeed,
};
use rsalab_text::{
    BlockFault, Error, Threads,
    blocks::{Blocks, decrypt, encrypt},
    container::{self, Header},
};

const THREADS: [usize; 5] = [1, 2, 3, 8, 64];

fn key(bits: usize) -> PrivateKey {
    let mut rng = InsecureStudySeed::new([9; 32]).stream(bits as u64);
    generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key
}

static KEY: LazyLock<PrivateKey> = LazyLock::new(|| key(512));

fn text(len: usize) -> Vec<u8> {
    (0..len as u32)
        .map(|index| (index.wrapping_mul(2_654_435_761) >> 24) as u8)
        .collect()
}

/// Adds 1 to or subtracts 1 from every byte of a block of 16: as good as RSA for showing where bytes go.
struct Shift {
    by: u8,
}

impl Prepared for Shift {
    fn modulus_len(&self) -> usize {
        16
    }

    fn kernel(&self) -> &str {
        "none"
    }

    fn lanes(&self) -> usize {
        3
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>, rsalab_rsa::Error> {
        Ok(Box::new(Shift { by: self.by }))
    }
}

impl BlockRunner for Shift {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), rsalab_rsa::Error> {
        assert_eq!((inputs.len(), outputs.len()), (16 * status.len(), 16 * status.len()));
        for (output, input) in outputs.iter_mut().zip(inputs) {
            *output = input.wrapping_add(self.by);
        }
        status.fill(Status::Done);
        Ok(())
    }
}

#[test]
fn a_megabyte_comes_back_and_its_ciphertext_does_not_depend_on_threads() {
    let key = key(768);
    let backend = CpuBackend::auto();
    let (public, private) = (
        backend.prepare_public(key.public()).unwrap(),
        backend.prepare_private(&key).unwrap(),
    );
    let blocks = Blocks::new(key.modulus_len(), None).unwrap();
    let text = text(1_000_000);

    let alone = encrypt(&*public, blocks, &text, Threads::unpinned(1)).unwrap().output;
    assert_eq!(alone.len(), blocks.cipher_len(text.len()));
    for threads in THREADS {
        let outcome = encrypt(&*public, blocks, &text, Threads::unpinned(threads)).unwrap();
        assert!(outcome.output == alone, "{threads} threads");
        let sizes: Vec<usize> = outcome.trace.iter().map(|part| part.blocks).collect();
        assert_eq!(sizes.len(), threads);
        assert!(
            sizes.iter().max().unwrap() - sizes.iter().min().unwrap() <= 1,
            "{sizes:?}"
        );
    }
    let back = decrypt(&*private, blocks, &alone, text.len(), Threads::unpinned(3))
        .unwrap()
        .output;
    assert!(back == text);

    // The matrix of thread counts on a part of it.
    let (text, cipher) = (&text[..20_001], &alone[..blocks.cipher_len(20_001)]);
    let last_block = cipher.len() - key.modulus_len();
    let cipher = {
        let short = encrypt(&*public, blocks, text, Threads::unpinned(2)).unwrap().output;
        assert!(short[..last_block] == cipher[..last_block]);
        short
    };
    for threads in THREADS {
        let back = decrypt(&*private, blocks, &cipher, text.len(), Threads::unpinned(threads))
            .unwrap()
            .output;
        assert!(back == text, "{threads} threads");
    }
}

#[test]
fn every_length_around_a_block_comes_back() {
    let backend = CpuBackend::auto();
    let public = backend.prepare_public(KEY.public()).unwrap();
    let private = backend.prepare_private(&KEY).unwrap();
    for symbols in [None, Some(63), Some(62), Some(10), Some(1)] {
        let blocks = Blocks::new(KEY.modulus_len(), symbols).unwrap();
        let size = blocks.symbols();
        for len in [
            0,
            1,
            size - 1,
            size,
            size + 1,
            2 * size - 1,
            2 * size,
            2 * size + 1,
            5 * size + 2,
        ] {
            for fill in [0x00, 0x01, 0xff] {
                let text = vec![fill; len];
                let cipher = encrypt(&*public, blocks, &text, Threads::unpinned(2)).unwrap().output;
                assert_eq!(cipher.len(), len.div_ceil(size) * KEY.modulus_len());
                let back = decrypt(&*private, blocks, &cipher, len, Threads::unpinned(3))
                    .unwrap()
                    .output;
                assert_eq!(back, text, "{len} bytes of {fill} in blocks of {size}");
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn any_text_comes_back(
        text in proptest::collection::vec(prop_oneof![Just(0u8), any::<u8>()], 0..400),
        symbols in 1usize..16,
        threads in 1usize..9,
    ) {
        let blocks = Blocks::new(16, Some(symbols)).unwrap();
        let cipher = encrypt(&Shift { by: 1 }, blocks, &text, Threads::unpinned(threads)).unwrap().output;
        prop_assert_eq!(cipher.len(), blocks.cipher_len(text.len()));
        let back = decrypt(&Shift { by: 255 }, blocks, &cipher, text.len(), Threads::unpinned(9 - threads)).unwrap();
        prop_assert_eq!(back.output, text);
    }
}

#[test]
fn a_megabyte_keeps_its_order_on_every_number_of_threads() {
    let text = text(1_000_000);
    let blocks = Blocks::new(16, Some(7)).unwrap();
    let alone = encrypt(&Shift { by: 1 }, blocks, &text, Threads::unpinned(1))
        .unwrap()
        .output;
    for threads in THREADS {
        let cipher = encrypt(&Shift { by: 1 }, blocks, &text, Threads::unpinned(threads))
            .unwrap()
            .output;
        assert!(cipher == alone, "{threads} threads");
        let back = decrypt(
            &Shift { by: 255 },
            blocks,
            &cipher,
            text.len(),
            Threads::unpinned(threads),
        )
        .unwrap()
        .output;
        assert!(back == text, "{threads} threads");
    }
}

#[test]
fn the_first_damaged_block_is_named_whoever_found_it() {
    let blocks = Blocks::new(16, Some(10)).unwrap();
    let mut cipher = encrypt(&Shift { by: 1 }, blocks, &text(1000), Threads::unpinned(1))
        .unwrap()
        .output;
    for damaged in [37, 38, 99] {
        cipher[16 * damaged + 5] ^= 1;
    }
    for threads in THREADS {
        let error =
            decrypt(&Shift { by: 255 }, blocks, &cipher, 1000, Threads::unpinned(threads)).expect_err("damaged");
        assert!(
            matches!(
                error,
                Error::Block {
                    block: 37,
                    reason: BlockFault::Padding
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn blocks_beyond_the_modulus_are_named() {
    let backend = CpuBackend::auto();
    let public = backend.prepare_public(KEY.public()).unwrap();
    let private = backend.prepare_private(&KEY).unwrap();
    let blocks = Blocks::new(64, None).unwrap();
    let mut cipher = encrypt(&*public, blocks, &text(63 * 40), Threads::unpinned(1))
        .unwrap()
        .output;
    cipher[64 * 30..64 * 31].copy_from_slice(KEY.public().n());
    for threads in [1, 4] {
        let error = decrypt(&*private, blocks, &cipher, 63 * 40, Threads::unpinned(threads)).expect_err("damaged");
        assert!(
            matches!(
                error,
                Error::Block {
                    block: 30,
                    reason: BlockFault::OutOfRange
                }
            ),
            "{error}"
        );
    }
}

#[test]
fn blocks_that_cannot_be_are_refused() {
    for symbols in [0, 64, 65, usize::MAX] {
        assert!(
            matches!(Blocks::new(64, Some(symbols)), Err(Error::Blocks { .. })),
            "{symbols}"
        );
    }
    assert!(Blocks::new(1, None).is_err());
    assert!(Blocks::new(0, None).is_err());
    let blocks = Blocks::new(16, None).unwrap();
    assert_eq!(
        (blocks.symbols(), blocks.count(0), blocks.count(15), blocks.count(16)),
        (15, 0, 1, 2)
    );

    let shift = Shift { by: 1 };
    let refusal = |cipher: &[u8], len| {
        decrypt(&shift, blocks, cipher, len, Threads::unpinned(1))
            .unwrap_err()
            .to_string()
    };
    assert!(refusal(&[0; 17], 15).contains("not a multiple of the 16 bytes"));
    assert!(refusal(&[0; 32], 15).contains("2 blocks"));
    assert!(refusal(&[], 1).contains("0 blocks"));
    let wrong = Blocks::new(32, None).unwrap();
    let error = encrypt(&shift, wrong, b"text", Threads::unpinned(2)).unwrap_err();
    assert!(error.to_string().contains("cut for a modulus of 32 bytes"), "{error}");
    let error = encrypt(&shift, blocks, b"text", Threads::unpinned(0)).unwrap_err();
    assert!(matches!(error, Error::Layout { .. }), "{error}");
}

#[test]
fn workers_can_be_pinned() {
    let cpus = match rsalab_measure::pin::allowed_cpus() {
        Ok(cpus) => cpus,
        Err(error) => {
            eprintln!("SKIPPED: {error}, so pinning was not tested");
            return;
        }
    };
    let pinned: Vec<usize> = cpus.iter().copied().cycle().take(5).collect();
    let blocks = Blocks::new(16, None).unwrap();
    let outcome = encrypt(&Shift { by: 1 }, blocks, &text(1000), Threads::pinned(&pinned)).unwrap();
    let traced: Vec<Option<usize>> = outcome.trace.iter().map(|part| part.cpu).collect();
    assert_eq!(traced, pinned.iter().copied().map(Some).collect::<Vec<_>>());

    let error = encrypt(
        &Shift { by: 1 },
        blocks,
        &text(1000),
        Threads::pinned(&[cpus[0], 1 << 20]),
    )
    .unwrap_err();
    let Error::Workers(failures) = &error else {
        panic!("{error}")
    };
    assert_eq!(failures.iter().map(|failure| failure.id).collect::<Vec<_>>(), [1]);
    assert!(error.to_string().contains("CPU 1048576"), "{error}");
}

#[test]
fn files_come_back() {
    let backend = CpuBackend::auto();
    for symbols in [None, Some(1), Some(20)] {
        for len in [0, 1, 19, 20, 21, 62, 63, 64, 500] {
            let text = text(len);
            let file = container::encrypt(&backend, KEY.public(), symbols, &text, Threads::unpinned(2))
                .unwrap()
                .output;
            let (header, body) = Header::parse(&file).unwrap();
            assert_eq!((header.text_len, header.modulus_bits), (len, 512));
            assert_eq!(body.len(), len.div_ceil(header.symbols) * 64);
            assert_eq!(header.blocks_len(), Some(body.len() as u64));
            assert_eq!(file[..Header::LEN], header.to_bytes());
            assert_eq!(
                container::decrypt(&backend, &KEY, &file, Threads::unpinned(3))
                    .unwrap()
                    .output,
                text
            );
        }
    }
}

#[test]
fn files_that_are_not_right_are_refused() {
    let backend = CpuBackend::auto();
    let text = text(200);
    let file = container::encrypt(&backend, KEY.public(), None, &text, Threads::unpinned(1))
        .unwrap()
        .output;
    let refusal = |file: &[u8]| match container::decrypt(&backend, &KEY, file, Threads::unpinned(2)) {
        Err(Error::Container { reason }) => reason,
        other => panic!("{other:?}"),
    };
    for len in 0..file.len() {
        let reason = refusal(&file[..len]);
        let expected = if len < 8 {
            "not a file that rsalab encrypted"
        } else {
            "is cut"
        };
        assert!(reason.contains(expected), "cut to {len}: {reason}");
    }
    let with = |at: usize, bytes: &[u8]| {
        let mut file = file.clone();
        file[at..at + bytes.len()].copy_from_slice(bytes);
        file
    };
    assert!(refusal(&with(6, b"\r\n")).contains("not a file that rsalab encrypted"));
    assert!(refusal(&with(8, &[0, 0, 0, 2])).contains("version 2"));
    assert!(refusal(&with(12, &[0; 4])).contains("do not fit"));
    assert!(refusal(&with(12, &[0, 0, 1, 0xff])).contains("it says 511 bits of a key that has 512"));
    assert!(refusal(&with(12, &[0xff; 4])).contains("cut or damaged"));
    assert!(refusal(&with(16, &[0; 4])).contains("do not fit"));
    assert!(refusal(&with(16, &[0, 0, 0, 64])).contains("do not fit"));
    assert!(refusal(&with(20, &[0xff; 8])).contains("too many bytes"));
    assert!(refusal(&with(28, &[0; 4])).contains("encrypted for the key 00000000"));
    let longer = [&file[..], &[0]].concat();
    assert!(refusal(&longer).contains("cut or damaged"));

    let other = key(514);
    let error = container::decrypt(&backend, &other, &file, Threads::unpinned(2)).unwrap_err();
    assert!(
        error.to_string().contains("of 512 bits, but the key given is"),
        "{error}"
    );
}

/// A private key whose results, or whose calls, are wrong.
struct Faulty<'a> {
    inner: &'a dyn Prepared,
    fault: Fault,
}

#[derive(Clone, Copy)]
enum Fault {
    /// A bit of every byte of the result is flipped.
    Result,
    /// The item in the middle fails its check.
    Check,
    /// The whole call fails.
    Refusal,
}

struct FaultyRunner<'a> {
    inner: Box<dyn BlockRunner + Send + 'a>,
    fault: Fault,
}

impl Prepared for Faulty<'_> {
    fn modulus_len(&self) -> usize {
        self.inner.modulus_len()
    }

    fn kernel(&self) -> &str {
        self.inner.kernel()
    }

    fn lanes(&self) -> usize {
        1
    }

    fn runner(&self) -> Result<Box<dyn BlockRunner + Send + '_>, rsalab_rsa::Error> {
        Ok(Box::new(FaultyRunner {
            inner: self.inner.runner()?,
            fault: self.fault,
        }))
    }
}

impl BlockRunner for FaultyRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8], status: &mut [Status]) -> Result<(), rsalab_rsa::Error> {
        self.inner.run(inputs, outputs, status)?;
        match self.fault {
            Fault::Result => outputs.iter_mut().for_each(|byte| *byte ^= 1),
            Fault::Check => status[status.len() / 2] = Status::Fault,
            Fault::Refusal => {
                return Err(rsalab_rsa::Error::Backend {
                    backend: "faulty",
                    reason: "no more".to_owned(),
                });
            }
        }
        Ok(())
    }
}

#[test]
fn faults_of_the_private_operation_do_not_become_text() {
    let backend = CpuBackend::auto();
    let public = backend.prepare_public(KEY.public()).unwrap();
    let private = backend.prepare_private(&KEY).unwrap();
    let blocks = Blocks::new(64, Some(60)).unwrap();
    let text = vec![b'x'; 60 * 5];
    let cipher = encrypt(&*public, blocks, &text, Threads::unpinned(1)).unwrap().output;
    let decrypted = |fault, threads| {
        let faulty = Faulty {
            inner: &*private,
            fault,
        };
        let threads = Threads::unpinned(threads);
        decrypt(&faulty, blocks, &cipher, text.len(), threads).expect_err("a fault")
    };
    assert!(matches!(
        decrypted(Fault::Check, 1),
        Error::Block {
            block: 2,
            reason: BlockFault::Check
        }
    ));
    assert!(matches!(
        decrypted(Fault::Result, 1),
        Error::Block {
            block: 0,
            reason: BlockFault::Padding
        }
    ));
    let error = decrypted(Fault::Refusal, 2);
    assert!(
        matches!(&error, Error::Workers(failures) if failures.len() == 2),
        "{error}"
    );
    assert!(
        error
            .to_string()
            .contains("worker 1 failed: the backend faulty failed: no more"),
        "{error}"
    );
}
