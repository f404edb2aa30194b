//! The allocator under a program whose system refuses memory on request.

use std::{
    alloc::{GlobalAlloc, Layout, System},
    cell::Cell,
    sync::{Barrier, mpsc},
    thread,
};

use rsalab_reserve::{Allocator, Paused, PerThread, Reserve, on_threads};

thread_local! {
    static REFUSES: Cell<bool> = const { Cell::new(false) };
}

struct Moody;

// SAFETY: the system's, or null.
unsafe impl GlobalAlloc for Moody {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        match REFUSES.get() {
            true => std::ptr::null_mut(),
            // SAFETY: the caller's promise.
            false => unsafe { System.alloc(layout) },
        }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        // SAFETY: the caller's promise.
        unsafe { System.dealloc(place, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Allocator<Moody> = Allocator::over(Moody);

/// With nothing from the system.
fn refused<R>(body: impl FnOnce() -> R) -> R {
    REFUSES.set(true);
    let result = body();
    REFUSES.set(false);
    result
}

/// `true` if so many bytes can be had now.
fn can_have(bytes: usize) -> bool {
    refused(|| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

#[test]
fn an_operation_has_what_the_system_refuses() {
    assert!(!Reserve::was_refused());
    assert!(!can_have(1));
    let reserve = Reserve::enter(100_000).unwrap();
    assert!(can_have(100_000));
    let words = refused(|| {
        let mut words: Vec<String> = Vec::new();
        for number in 0..1000 {
            words.push(format!("word {number}"));
        }
        words.sort();
        words.truncate(500);
        words
    });
    // It grows with the system's memory again, and is moved there.
    let more: Vec<String> = words.iter().chain(&words).cloned().collect();
    drop(words);
    assert!(can_have(100_000));
    drop(reserve);
    assert!(!can_have(1));
    assert_eq!(more[0], "word 0");
}

#[test]
fn what_was_the_systems_grows_into_the_reserve_and_back() {
    let _reserve = Reserve::enter(1 << 16).unwrap();
    let mut bytes = vec![7_u8; 100];
    refused(|| bytes.resize(1000, 8));
    refused(|| bytes.resize(5000, 9));
    bytes.resize(50_000, 10);
    refused(|| {
        bytes.truncate(200);
        bytes.shrink_to_fit();
    });
    assert!(bytes[..100].iter().all(|byte| *byte == 7));
    assert!(bytes[100..].iter().all(|byte| *byte == 8));
    let zeros = refused(|| vec![0_u8; 3000]);
    assert!(zeros.iter().all(|byte| *byte == 0));
}

#[test]
fn what_becomes_smaller_takes_no_more() {
    // Blocks of this size are as large as is asked for: two places of 5 MiB do not fit.
    let _reserve = Reserve::enter((1 << 23) + 1).unwrap();
    let bytes = refused(|| {
        let mut bytes = vec![7_u8; 6 << 20];
        bytes.truncate(5 << 20);
        bytes.shrink_to_fit();
        bytes
    });
    assert_eq!(bytes.capacity(), 5 << 20);
    assert!(bytes.iter().all(|byte| *byte == 7));
    // Its end can be had again, and then all.
    assert!(can_have(3 << 20));
    drop(bytes);
    assert!(can_have(1 << 23));
}

#[test]
fn what_outlives_its_operation_keeps_its_memory() {
    let reserve = Reserve::enter(1000).unwrap();
    let kept = refused(|| vec![1_u8; 1000]);
    drop(reserve);
    // The next operation has another block, whole, and another thread frees what is in the first one.
    let reserve = Reserve::enter(1000).unwrap();
    assert!(can_have(1 << 16));
    thread::spawn(move || {
        assert!(kept.iter().all(|byte| *byte == 1));
        drop(kept);
    })
    .join()
    .unwrap();
    drop(reserve);
}

#[test]
fn large_blocks_go_back_even_late() {
    let bytes = 1 << 25;
    for keep in [false, true] {
        let reserve = Reserve::enter(bytes).unwrap();
        let kept = refused(|| vec![1_u8; bytes - 4096]);
        match keep {
            false => drop(kept),
            true => {
                drop(reserve);
                assert_eq!(kept[bytes - 4097], 1);
            }
        }
    }
    assert!(Reserve::enter(usize::MAX).is_none());
    assert!(Reserve::enter(1 << 62).is_none());
    assert!(Reserve::was_refused());
}

#[test]
fn a_large_block_is_hardly_larger_than_what_is_asked_for() {
    let bytes = (1 << 23) + 1;
    let _reserve = Reserve::enter(bytes).unwrap();
    assert!(can_have(bytes));
    assert!(!can_have(bytes + (1 << 13)));
}

#[test]
fn an_inner_operation_falls_back_on_the_outer_one() {
    let outer = Reserve::enter(1000).unwrap();
    let inner = Reserve::enter(1 << 20).unwrap();
    let large = refused(|| vec![1_u8; (1 << 20) - 100]);
    assert!(can_have(60_000));
    drop(large);
    drop(inner);
    // A block that another test has left may be four times as large as the least one, 64 KiB.
    assert!(!can_have(1 << 19));
    assert!(can_have(1 << 16));
    drop(outer);
}

#[test]
fn a_paused_operation_goes_on_elsewhere_or_never() {
    let reserve = Reserve::enter(1000).unwrap();
    let paused = Paused::of_thread();
    paused.leave();
    assert!(!can_have(1));
    // Others run meanwhile, and have their own.
    drop(Reserve::enter(1000).unwrap());
    std::mem::forget(reserve);
    thread::spawn(move || {
        paused.resume();
        assert!(can_have(1000));
        let paused = Paused::of_thread();
        paused.leave();
        assert!(!can_have(1));
        paused.abandon();
    })
    .join()
    .unwrap();
}

#[test]
fn many_threads_free_what_others_allocated() {
    let (threads, rounds) = (4, 500);
    let barrier = &Barrier::new(threads);
    let (senders, receivers): (Vec<_>, Vec<_>) = (0..threads).map(|_| mpsc::channel::<(Vec<u64>, u64)>()).unzip();
    thread::scope(|scope| {
        for (number, receiver) in receivers.into_iter().enumerate() {
            let next = senders[(number + 1) % threads].clone();
            scope.spawn(move || {
                barrier.wait();
                for round in 0..rounds {
                    let reserve = Reserve::enter(40_000).unwrap();
                    let mark = (number * rounds + round) as u64;
                    let sent = refused(|| vec![mark; 1 + round % 300]);
                    drop(reserve);
                    next.send((sent, mark)).unwrap();
                    let (received, mark) = receiver.recv().unwrap();
                    assert!(received.iter().all(|word| *word == mark));
                }
            });
        }
    });
}

#[test]
fn a_value_of_a_thread_is_made_once_and_dropped_with_it() {
    use std::sync::atomic::{AtomicUsize, Ordering};
    static LIVING: AtomicUsize = AtomicUsize::new(0);
    struct Counted(Cell<u32>);
    impl Drop for Counted {
        fn drop(&mut self) {
            LIVING.fetch_sub(1, Ordering::Relaxed);
        }
    }
    static VALUES: PerThread<Counted> = PerThread::new(|| {
        LIVING.fetch_add(1, Ordering::Relaxed);
        Counted(Cell::new(0))
    });
    let count = || {
        let next = |value: &Counted| {
            value.0.set(value.0.get() + 1);
            value.0.get()
        };
        VALUES.with(next).unwrap()
    };
    for _ in 0..3 {
        thread::spawn(move || {
            assert_eq!((count(), count()), (1, 2));
            assert_eq!(LIVING.load(Ordering::Relaxed), 1);
        })
        .join()
        .unwrap();
        assert_eq!(LIVING.load(Ordering::Relaxed), 0);
    }
}

#[test]
fn threads_share_a_computation_and_their_panics_end_there() {
    let numbers: Vec<usize> = (0..5).collect();
    let work = |number: usize| {
        let _reserve = Reserve::enter(1000).unwrap();
        assert_ne!(number, 3, "on purpose");
        refused(|| vec![numbers[number]; 100])
    };
    let results = on_threads(5, work);
    for (number, result) in results.into_iter().enumerate() {
        assert_eq!(result, (number != 3).then(|| vec![number; 100]));
    }
    assert!(on_threads(0, |number| number).is_empty());
    let own = std::panic::catch_unwind(|| on_threads(2, |number| assert_ne!(number, 0, "on purpose")));
    assert!(own.is_err());
}
