//! Work on several CPUs.

use std::sync::Mutex;

/// The results of `work` for 0 .. `count`, each on the thread that is free, this one among them.
pub(crate) fn map<T: Send>(threads: usize, count: usize, work: impl Fn(usize) -> T + Sync) -> Vec<T> {
    let mut results: Vec<Option<T>> = (0..count).map(|_| None).collect();
    for_each(threads, results.iter_mut().enumerate().collect(), |(i, result)| {
        *result = Some(work(i));
    });
    results
        .into_iter()
        .map(|result| result.expect("each was computed"))
        .collect()
}

/// Does `work` with each of the tasks, on up to `threads` threads, this one among them; whoever is free takes the next.
pub(crate) fn for_each<T: Send>(threads: usize, tasks: Vec<T>, work: impl Fn(T) + Sync) {
    if threads <= 1 || tasks.len() <= 1 {
        tasks.into_iter().for_each(work);
        return;
    }
    let threads = threads.min(tasks.len());
    let tasks = Mutex::new(tasks.into_iter());
    let next = || tasks.lock().expect("nothing panics while it takes a task").next();
    std::thread::scope(|scope| {
        let run = || {
            while let Some(task) = next() {
                work(task);
            }
        };
        for _ in 1..threads {
            // Where the system gives no more, fewer do the same.
            if std::thread::Builder::new().spawn_scoped(scope, run).is_err() {
                break;
            }
        }
        run();
    });
}
