//! The operations of a key, for the kernel that runs by default. `cargo bench -p rsalab-arith`.

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use rsalab_arith::bare::BarePrivateContext;
use rsalab_arith::{CheckedPrivateKey, Kernel, PrivateContext, PublicContext, Status, integer};
use std::hint::black_box;

const E: [u8; 3] = [1, 0, 1];

/// A key whose "primes" need only be odd and coprime to what they must be: the arithmetic does not care.
fn key(bits: usize) -> CheckedPrivateKey {
    let number = |seed: u64| {
        let mut state = seed;
        let mut bytes: Vec<u8> = (0..bits / 16)
            .map(|_| {
                state = state
                    .wrapping_mul(6364136223846793005)
                    .wrapping_add(1442695040888963407);
                (state >> 56) as u8
            })
            .collect();
        bytes[0] |= 0xc0;
        bytes[bits / 16 - 1] |= 1;
        bytes
    };
    (1..)
        .map(|seed| (number(2 * seed), number(2 * seed + 1)))
        .find_map(|(p, q)| CheckedPrivateKey::from_primes(&p, &q, &E).ok())
        .expect("some pair is coprime")
}

fn operations(criterion: &mut Criterion) {
    for bits in [1024, 2048, 3072, 4096, 8192] {
        let key = key(bits);
        let kernel = Kernel::auto();
        let mut input = vec![0x5a; bits / 8];
        input[0] = 0;
        let (mut output, mut status) = (vec![0; bits / 8], [Status::Done]);
        let mut group = criterion.benchmark_group(kernel.name());
        group.throughput(Throughput::Elements(1)).sample_size(20);

        let bare = BarePrivateContext::new(&key, kernel);
        let mut scratch = bare.scratch();
        group.bench_function(BenchmarkId::new("bare", bits), |b| {
            b.iter(|| bare.apply(&mut scratch, black_box(&input), &mut output, &mut status));
        });
        let private = PrivateContext::new(&key, kernel);
        let mut scratch = private.scratch().unwrap();
        group.bench_function(BenchmarkId::new("private", bits), |b| {
            b.iter(|| private.apply(&mut scratch, black_box(&input), &mut output, &mut status));
        });
        let public = PublicContext::new(key.public(), kernel);
        let mut scratch = public.scratch();
        group.bench_function(BenchmarkId::new("public", bits), |b| {
            b.iter(|| public.apply_vartime(&mut scratch, black_box(&input), &mut output, &mut status));
        });
        let prime = key.parts().p;
        let mut base = vec![0; prime.len()];
        base[prime.len() - 1] = 2;
        let mut tester = rsalab_arith::candidate::Tester::new(kernel, prime.len());
        group.bench_function(BenchmarkId::new("candidate_round", bits / 2), |b| {
            b.iter(|| tester.round(black_box(prime), &base, &mut [false]));
        });
        let mut tester = rsalab_arith::candidate::PreTester::new(kernel, bits / 2);
        let lanes = tester.lanes();
        let (batch, mut passed) = (prime.repeat(lanes), vec![false; lanes]);
        group.throughput(Throughput::Elements(lanes as u64));
        group.bench_function(BenchmarkId::new("pre_test", bits / 2), |b| {
            b.iter(|| tester.test(black_box(&batch), &mut passed));
        });
        let (batch, bases) = (prime.repeat(8), base.repeat(8));
        let mut tester = rsalab_arith::candidate::Tester::new(kernel, prime.len());
        group.throughput(Throughput::Elements(8));
        group.bench_function(BenchmarkId::new("rounds", bits / 2), |b| {
            b.iter(|| tester.round(black_box(&batch), &bases, &mut [false; 8]));
        });
        group.throughput(Throughput::Elements(1));
        group.bench_function(BenchmarkId::new("sieve_setup", bits / 2), |b| {
            b.iter(|| rsalab_arith::candidate::Sieve::new(kernel, bits / 2));
        });
        let sieve = rsalab_arith::candidate::Sieve::new(kernel, bits / 2);
        group.bench_function(BenchmarkId::new("sieve", bits / 2), |b| {
            b.iter(|| sieve.interval(black_box(prime)));
        });
        let mut interval = sieve.interval(prime).unwrap();
        let mut picked = prime.to_vec();
        group.bench_function(BenchmarkId::new("pick", bits / 2), |b| {
            b.iter(|| {
                if !interval.pick(black_box(1 << 63), &mut picked).unwrap() {
                    interval = sieve.interval(prime).unwrap();
                }
            });
        });
        group.bench_function(BenchmarkId::new("has_small_factor", bits / 2), |b| {
            b.iter(|| rsalab_arith::candidate::has_small_factor(black_box(prime)));
        });
        group.bench_function(BenchmarkId::new("derive", bits), |b| {
            b.iter(|| integer::derive(black_box(&[key.parts().p, key.parts().q]), &E));
        });
        group.bench_function(BenchmarkId::new("invert", bits), |b| {
            b.iter(|| integer::invert(black_box(&input), key.parts().n));
        });
    }
}

criterion_group!(benches, operations);
criterion_main!(benches);
