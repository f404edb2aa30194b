//! Every kernel of this CPU against the crate `sha2`.
#![forbid(unsafe_code)]

use rsalab_digests::{Function, Kernel};
use sha2::Digest;

/// Bytes that differ from place to place: SplitMix64.
fn bytes(seed: u64, len: usize) -> Vec<u8> {
    let mut state = seed;
    let mut byte = || {
        state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (state ^ (state >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        (z ^ (z >> 27)) as u8
    };
    (0..len).map(|_| byte()).collect()
}

fn model(function: Function, message: &[u8]) -> Vec<u8> {
    match function {
        Function::Sha224 => sha2::Sha224::digest(message).to_vec(),
        Function::Sha256 => sha2::Sha256::digest(message).to_vec(),
    }
}

const FUNCTIONS: [Function; 2] = [Function::Sha224, Function::Sha256];

/// Digests of messages cut into three parts at the places that are given for each.
fn digests(
    kernel: Kernel,
    function: Function,
    messages: &[Vec<u8>],
    cuts: impl Fn(usize) -> (usize, usize),
) -> Vec<Vec<u8>> {
    let mut digests = vec![Vec::new(); messages.len()];
    let parts = |place: usize| {
        let message = &messages[place];
        let (first, second) = cuts(place);
        let (first, second) = (first.min(message.len()), second.min(message.len()));
        [
            &message[..first.min(second)],
            &message[first.min(second)..second],
            &message[second..],
        ]
    };
    kernel.digests(function, messages.len(), parts, |place, digest| {
        assert!(digests[place].is_empty(), "{}: message {place} twice", kernel.name());
        digests[place] = digest.to_vec();
    });
    digests
}

fn agrees(kernel: Kernel, messages: &[Vec<u8>], cuts: impl Fn(usize) -> (usize, usize)) {
    for function in FUNCTIONS {
        let expected: Vec<_> = messages.iter().map(|message| model(function, message)).collect();
        let got = digests(kernel, function, messages, &cuts);
        for (place, (got, expected)) in got.iter().zip(&expected).enumerate() {
            let len = messages[place].len();
            assert_eq!(
                got,
                expected,
                "{} {function:?}, message {place} of {len} bytes",
                kernel.name()
            );
        }
    }
}

#[test]
fn the_kernels_of_this_machine_are_listed_the_fastest_first() {
    let names: Vec<_> = Kernel::all().iter().map(|kernel| kernel.name()).collect();
    println!("{names:?}");
    assert_eq!(names[0], Kernel::best().name());
    assert_eq!(names.last(), Some(&"sha256x1"));
    assert!(
        Kernel::all()
            .iter()
            .all(|kernel| [1, 4, 8, 16].contains(&kernel.lanes()))
    );
    #[cfg(target_arch = "x86_64")]
    for (name, have) in [
        (
            "sha256x16_avx512",
            is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw"),
        ),
        (
            "sha256x4_sha",
            is_x86_feature_detected!("sha") && is_x86_feature_detected!("sse4.1"),
        ),
        ("sha256x8_avx2", is_x86_feature_detected!("avx2")),
    ] {
        assert_eq!(names.contains(&name), have, "{name}");
    }
}

#[test]
fn messages_of_every_length_and_any_number_of_them() {
    for kernel in Kernel::all() {
        for len in 0..=300 {
            // Whole passes, what is left of them, and a few alone; cut within and at the borders of blocks.
            for count in [1, 3, 16, 37] {
                let messages: Vec<_> = (0..count).map(|place| bytes((len * 100 + place) as u64, len)).collect();
                agrees(kernel, &messages, |place| (len / 3, len / 2 + place % 3));
            }
        }
    }
}

#[test]
fn any_number_of_messages() {
    for kernel in Kernel::all() {
        for count in 0..=70 {
            let messages: Vec<_> = (0..count).map(|place| bytes(place as u64, 32)).collect();
            agrees(kernel, &messages, |_| (0, 0));
        }
    }
}

#[test]
fn messages_of_different_lengths() {
    for kernel in Kernel::all() {
        // All lengths at once, in both orders and mixed.
        let mut messages: Vec<_> = (0..=300).map(|len| bytes(len as u64, len)).collect();
        agrees(kernel, &messages, |place| (place % 65, 64 + place % 3));
        messages.reverse();
        agrees(kernel, &messages, |place| (64, 64 + place));
        messages.sort_by_key(|message| message.len() * 7 % 301);
        agrees(kernel, &messages, |place| (1, 55 + place % 20));
        // A few long ones among short ones go on alone.
        for long in [1, 2, 5, 6, 7, 15] {
            let lens = (0..40).map(|place| if place % 40 < long { 5000 + 613 * place } else { place });
            let messages: Vec<_> = lens.map(|len| bytes(len as u64, len)).collect();
            agrees(kernel, &messages, |place| (9 * place, 100 * place));
            agrees(kernel, &messages[..16], |_| (2500, 2500));
        }
    }
}

/// FIPS 180-4's examples, as NIST gives them: what `sha2` itself is compared with.
#[test]
fn digests_of_the_standards_examples() {
    let two_blocks = b"abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq".to_vec();
    let messages = [b"abc".to_vec(), two_blocks, vec![b'a'; 1_000_000]];
    let beginnings = [
        [
            [0x23, 0x09, 0x7d, 0x22],
            [0x75, 0x38, 0x8b, 0x16],
            [0x20, 0x79, 0x46, 0x55],
        ],
        [
            [0xba, 0x78, 0x16, 0xbf],
            [0x24, 0x8d, 0x6a, 0x61],
            [0xcd, 0xc7, 0x6e, 0x5c],
        ],
    ];
    for kernel in Kernel::all() {
        for (function, beginnings) in FUNCTIONS.into_iter().zip(beginnings) {
            // Each of them in six lanes.
            let many: Vec<_> = messages.iter().flat_map(|message| vec![message.clone(); 6]).collect();
            let digests = digests(kernel, function, &many, |_| (0, 0));
            for (place, digest) in digests.iter().enumerate() {
                assert_eq!(digest[..4], beginnings[place / 6], "{} {function:?}", kernel.name());
                assert_eq!(digest.len(), function.digest_len());
            }
        }
    }
}

/// M' of RFC 8017, section 9.1.1, step 5, of any number of messages: whole passes, and what is left.
#[test]
fn salted_digests_are_those_of_the_whole_message() {
    for kernel in Kernel::all() {
        for function in FUNCTIONS {
            for count in [0, 1, 3, 8, 15, 16, 17, 40] {
                let halves: Vec<[Vec<u8>; 2]> = (0..count)
                    .map(|place| [bytes(place, 32), bytes(1000 + place, 32)])
                    .collect();
                let mut got = vec![Vec::new(); halves.len()];
                kernel.digests_of_salted(
                    function,
                    halves.len(),
                    |place| {
                        halves[place]
                            .each_ref()
                            .map(|half| half[..].try_into().expect("32 bytes"))
                    },
                    |place, digest| {
                        assert!(got[place].is_empty(), "{}: message {place} twice", kernel.name());
                        got[place] = digest.to_vec();
                    },
                );
                let whole = |[first, second]: &[Vec<u8>; 2]| [&[0; 8], &first[..], &second[..]].concat();
                let expected: Vec<_> = halves.iter().map(|halves| model(function, &whole(halves))).collect();
                assert_eq!(got, expected, "{} {function:?}, {count}", kernel.name());
            }
        }
    }
}

/// RFC 8017, appendix B.2.1, as it is written.
fn mgf1(function: Function, seed: &[u8], len: usize) -> Vec<u8> {
    let mut mask = Vec::new();
    for counter in 0_u32.. {
        if mask.len() >= len {
            break;
        }
        mask.extend(model(function, &[seed, &counter.to_be_bytes()].concat()));
    }
    mask.truncate(len);
    mask
}

#[test]
fn masks_are_those_of_the_standard() {
    for kernel in Kernel::all() {
        for function in FUNCTIONS {
            // Seeds of one block, of more, and around the border; masks of one counter and of many.
            for seed in [0, 1, 20, 28, 32, 48, 50, 51, 52, 64, 130] {
                for target in [0, 1, 27, 28, 29, 32, 95, 223, 300] {
                    for count in [0, 1, 2, 3, 7, 16, 33] {
                        for seed_is_first in [true, false] {
                            let stride = 1 + seed + target + 2;
                            let items = bytes((seed * 1000 + target) as u64, stride * count);
                            let (seed_at, target_at) = match seed_is_first {
                                true => (1..1 + seed, 1 + seed..1 + seed + target),
                                false => (1 + target..1 + target + seed, 1..1 + target),
                            };
                            let mut expected = items.clone();
                            for item in expected.chunks_exact_mut(stride) {
                                let mask = mgf1(function, &item[seed_at.clone()], target);
                                let bytes = item[target_at.clone()].iter_mut();
                                bytes.zip(mask).for_each(|(byte, mask)| *byte ^= mask);
                            }
                            let mut got = items;
                            kernel.mask(function, &mut got, stride, seed_at, target_at);
                            assert!(
                                got == expected,
                                "{} {function:?}: seed {seed}, target {target}, {count} items",
                                kernel.name()
                            );
                        }
                    }
                }
            }
        }
    }
}

#[test]
#[should_panic(expected = "the seed stays")]
fn a_seed_among_what_is_masked_is_refused() {
    Kernel::best().mask(Function::Sha256, &mut [0; 40], 40, 0..32, 31..40);
}

#[test]
#[should_panic(expected = "whole items")]
fn a_part_of_an_item_is_refused() {
    Kernel::best().mask(Function::Sha256, &mut [0; 41], 40, 0..32, 32..40);
}
