//! A little work on several threads, or on fewer where the system refuses them.

use std::{panic, thread};

/// Does `work` to each piece, each on a thread of its own; on the calling thread where none could be started. The
/// results have the order of the pieces.
///
/// # Panics
/// As `work` does, after all of it has ended.
pub(crate) fn map<T, R>(pieces: impl Iterator<Item = T>, work: impl Fn(T) -> R + Sync) -> Vec<R>
where
    T: Copy + Send,
    R: Send,
{
    let work = &work;
    thread::scope(|scope| {
        let start = |piece: T| {
            thread::Builder::new()
                .spawn_scoped(scope, move || work(piece))
                .map_err(|_| piece)
        };
        // All are started before one is waited for.
        let started: Vec<_> = pieces.map(start).collect();
        let results = started.into_iter().map(|one| match one {
            Ok(thread) => thread.join().unwrap_or_else(|panic| panic::resume_unwind(panic)),
            Err(piece) => work(piece),
        });
        results.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_have_the_order_of_the_pieces() {
        assert_eq!(map(0..9, |number| number * number), [0, 1, 4, 9, 16, 25, 36, 49, 64]);
        assert!(map(0..0, |number: u8| number).is_empty());
    }
}
