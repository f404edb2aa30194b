//! Memory of transforms, used again: what the system hands out anew it clears page by page, which takes longer than a
//! transform.

use std::{
    ops::{Deref, DerefMut},
    sync::{Arc, Mutex},
};

use crate::kernel::Line;

/// Buffers that nobody uses now, and how many are kept.
#[derive(Debug)]
pub(crate) struct Pool(Mutex<Vec<Vec<Line>>>, usize);

/// Buffers that a thread uses at a time, at most: four numbers, and two sums modulo four primes.
const OF_THREAD: usize = 12;

/// Lines whose content is whatever they had before.
#[derive(Debug)]
pub(crate) struct Buffer {
    lines: Vec<Line>,
    used: usize,
    pool: Arc<Pool>,
}

impl Pool {
    /// For so many threads.
    pub(crate) fn new(threads: usize) -> Pool {
        Pool(Mutex::default(), OF_THREAD * threads.max(1))
    }

    /// So many lines.
    pub(crate) fn take(self: &Arc<Self>, used: usize) -> Buffer {
        let mut kept = self.0.lock().expect("nothing panics while it holds the lock");
        let enough = |(_, lines): &(usize, &Vec<Line>)| lines.len() >= used;
        let smallest = kept
            .iter()
            .enumerate()
            .filter(enough)
            .min_by_key(|(_, lines)| lines.len());
        let lines = match smallest.map(|(i, _)| i) {
            Some(i) => kept.swap_remove(i),
            None => {
                // Transforms have become longer: what is kept serves nobody.
                kept.clear();
                drop(kept);
                vec![Line::ZERO; used]
            }
        };
        Buffer {
            lines,
            used,
            pool: Arc::clone(self),
        }
    }

    /// Gives back all that is kept.
    pub(crate) fn clear(&self) {
        self.0.lock().expect("nothing panics while it holds the lock").clear();
    }
}

impl Deref for Buffer {
    type Target = [Line];

    fn deref(&self) -> &[Line] {
        &self.lines[..self.used]
    }
}

impl DerefMut for Buffer {
    fn deref_mut(&mut self) -> &mut [Line] {
        &mut self.lines[..self.used]
    }
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // A poisoned pool is of nobody's use.
        if let Ok(mut kept) = self.pool.0.lock()
            && kept.len() < self.pool.1
        {
            kept.push(std::mem::take(&mut self.lines));
        }
    }
}
