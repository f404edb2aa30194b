//! Tests of candidates for primes on a device, each candidate a modulus of its own.

use std::sync::Arc;

use rsalab_arith::integer;
use rsalab_rsa::{CandidateTester, Error, error::check_len};
use zeroize::Zeroizing;

use crate::{
    BatchError,
    driver::{Device, DriverError, Queue},
    kernel::{BASE_WINDOW as WINDOW, Kernel, Launch},
    open_device::{Launcher, OpenDevice, Wiped, intervals},
};

/// Bits at the end of a candidate that are always taken one at a time, so that nothing tells how many of them are zero.
const SINGLE_BITS: usize = 16;

/// One thread's runner for testing candidates of one length.
pub(crate) struct Tester<D: Device> {
    open: Arc<OpenDevice<D>>,
    launcher: Launcher<D>,
    program: Arc<D::Program>,
    bits: usize,
    limbs: usize,
    buffers: Option<Buffers<D>>,
}

/// Memory for so many candidates.
struct Buffers<D: Device> {
    items: usize,
    candidates: Wiped<D>,
    bases: Wiped<D>,
    moduli: Wiped<D>,
    ones: Wiped<D>,
    states: Wiped<D>,
    table: Wiped<D>,
    passed: Wiped<D>,
}

impl<D: Device> Tester<D> {
    pub(crate) fn new(open: &Arc<OpenDevice<D>>, launch: Launch, bits: usize) -> Result<Self, DriverError> {
        let limbs = bits.div_ceil(32);
        Ok(Tester {
            launcher: Launcher::new(open, launch)?,
            program: open.program(limbs)?,
            open: Arc::clone(open),
            bits,
            limbs,
            buffers: None,
        })
    }

    fn length(&self) -> usize {
        self.bits.div_ceil(8)
    }

    /// The most candidates that are tested at once.
    fn most_items(&self) -> usize {
        let table = (4 * self.limbs) << WINDOW;
        self.open.most_items(table, table)
    }

    fn make_buffers(&mut self, items: usize) -> Result<(), DriverError> {
        let room = self.buffers.as_ref().map_or(0, |buffers| buffers.items);
        if room >= items {
            return Ok(());
        }
        self.buffers = None;
        let items = items.next_power_of_two();
        let numbers = items * self.limbs;
        let words = |words: usize| Wiped::words(&self.open, words);
        self.buffers = Some(Buffers {
            items,
            candidates: Wiped::bytes(&self.open, items * self.length())?,
            bases: Wiped::bytes(&self.open, items * self.length())?,
            moduli: words(numbers)?,
            ones: words(numbers)?,
            states: words(numbers)?,
            table: words(numbers << WINDOW)?,
            passed: words(items)?,
        });
        Ok(())
    }

    /// Candidates, the shortest of `shortest` bits, as moduli. The states are 1.
    fn enter(&mut self, candidates: &[u8], count: usize, shortest: usize) -> Result<(), DriverError> {
        self.make_buffers(count)?;
        let length = self.length();
        let own = self.buffers.as_ref().expect("it was just made");
        self.launcher.upload(&own.candidates, candidates)?;
        let mut run = on_each(&mut self.launcher, &self.program, count, own.items);
        run(
            Kernel::CandidateEnter,
            &[&own.candidates, &own.moduli, &own.ones, &own.states],
            &[shortest - 1, self.limbs, length],
        )
    }

    /// Is 2^((w−1)/2) = ±1 mod w, for candidates of exactly the tester's length in bits?
    fn two(&mut self, candidates: &[u8], count: usize) -> Result<(), DriverError> {
        self.enter(candidates, count, self.bits)?;
        let own = self.buffers.as_ref().expect("it was made to enter");
        let mut run = on_each(&mut self.launcher, &self.program, count, own.items);
        let (top, limbs) = (self.bits - 1, self.limbs);
        for (first, last) in intervals(top, 1, limbs, count) {
            let words = [top - first, top - last, limbs];
            run(Kernel::TwoBits, &[&own.states, &own.moduli], &words)?;
        }
        run(
            Kernel::TwoVerdict,
            &[&own.states, &own.moduli, &own.ones, &own.passed],
            &[limbs],
        )
    }

    /// One Miller–Rabin round for each candidate.
    fn strong(&mut self, candidates: &[u8], bases: &[u8], count: usize) -> Result<(), DriverError> {
        let length = self.length();
        let each = || candidates.chunks_exact(length);
        let lengths = || each().map(integer::bits_vartime);
        let shortest = lengths().min().unwrap_or(self.bits);
        let longest = lengths().max().unwrap_or(self.bits);
        self.enter(candidates, count, shortest)?;
        let buffers = self.buffers.as_ref().expect("it was made to enter");
        self.launcher.upload(&buffers.bases, bases)?;
        let mut run = on_each(&mut self.launcher, &self.program, count, buffers.items);
        let Buffers {
            bases,
            states,
            table,
            moduli,
            ones,
            passed,
            ..
        } = buffers;
        let limbs = self.limbs;
        run(
            Kernel::BaseEnter,
            &[bases, states, table, moduli, ones],
            &[WINDOW, limbs, length],
        )?;
        let zeros = each().map(zeros_after_the_lowest_bit).max().unwrap_or(0);
        // One more than the zeros at the end of w - 1, which are one more than these.
        let low = (zeros + 2).next_multiple_of(WINDOW).max(SINGLE_BITS);
        let high = longest.next_multiple_of(WINDOW).max(low);
        for (first, last) in intervals((high - low) / WINDOW, WINDOW + 1, limbs, count) {
            let (from, to) = (high - first * WINDOW, high - last * WINDOW);
            let words = [from, to, WINDOW, limbs];
            run(Kernel::BaseDigits, &[states, table, moduli], &words)?;
        }
        let buffers = [states, table, moduli, ones, passed];
        run(Kernel::BaseVerdict, &buffers, &[low, limbs])
    }

    fn verdicts(&mut self, passed: &mut [bool]) -> Result<(), DriverError> {
        let buffers = self.buffers.as_ref().expect("it was made to enter");
        let queue = &mut self.launcher.queue;
        let download = queue.download(&buffers.passed.buffer, 4 * passed.len())?;
        queue.finish()?;
        let words = queue.downloaded(&download).chunks_exact(4);
        for (passed, word) in passed.iter_mut().zip(words) {
            *passed = word[0] == 1;
        }
        Ok(())
    }

    /// What became of a batch, once all that was begun has ended: where it failed, kernels may still be at work on
    /// memory that is wiped next.
    fn waited(&mut self, done: Result<(), DriverError>) -> Result<(), BatchError> {
        if done.is_err() {
            // If the device is lost, nothing is under way.
            let _ = self.launcher.queue.finish();
        }
        Ok(done?)
    }

    fn check_candidates(
        &self,
        candidates: &[u8],
        count: usize,
        fits: impl Fn(usize) -> bool,
        what: &str,
    ) -> Result<(), Error> {
        let length = self.length();
        check_len("the candidates", candidates.len(), count * length)?;
        let is_wrong = |w: &[u8]| w[length - 1] & 1 == 0 || !fits(integer::bits_vartime(w));
        match candidates.chunks_exact(length).any(is_wrong) {
            true => Err(BatchError::Refused(format!("a candidate, which must be odd and {what}, is not")).into()),
            false => Ok(()),
        }
    }
}

/// Runs kernels on each of `count` candidates: their buffers, their words, and then how many there are and there is
/// room for.
fn on_each<D: Device>(
    launcher: &mut Launcher<D>,
    program: &D::Program,
    count: usize,
    room: usize,
) -> impl FnMut(Kernel, &[&Wiped<D>], &[usize]) -> Result<(), DriverError> {
    move |kernel, buffers, words| {
        let words = [words, &[count, room]].concat();
        launcher.run(program, kernel, count, buffers, &words)
    }
}

/// How many zeros a number has above its lowest bit, which is one: mostly none, in a candidate one or two. Where there
/// are more than the bits that are taken one by one anyway, which happens to one candidate in 2^14, time tells.
fn zeros_after_the_lowest_bit(w: &[u8]) -> usize {
    let bits = w.iter().rev().flat_map(|&byte| (0..8).map(move |bit| byte >> bit & 1));
    let always = bits.clone().skip(1).take(SINGLE_BITS - 2);
    if always.fold(0, |any, bit| any | bit) != 0 {
        return 0;
    }
    bits.skip(1).take_while(|&bit| bit == 0).count()
}

impl<D: Device> CandidateTester for Tester<D> {
    fn pre_test(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let bits = self.bits;
        self.check_candidates(
            candidates,
            passed.len(),
            |length| length == bits,
            "of the length asked for",
        )?;
        let chunk = self.most_items();
        for (candidates, passed) in candidates.chunks(chunk * self.length()).zip(passed.chunks_mut(chunk)) {
            let tested = self.two(candidates, passed.len());
            let done = tested.and_then(|()| self.verdicts(passed));
            self.waited(done)?;
        }
        Ok(())
    }

    fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let length = self.length();
        self.check_candidates(candidates, passed.len(), |length| length > 2, "above 4")?;
        check_len("the bases", bases.len(), passed.len() * length)?;
        // Candidates become primes of keys.
        let mut below = Zeroizing::new(vec![0; length]);
        let is_wrong = |(w, b): (&[u8], &[u8])| {
            // w is odd: less 1, it is another last byte.
            below.copy_from_slice(w);
            below[length - 1] &= !1;
            !integer::is_less(&[1], b) || !integer::is_less(b, &below)
        };
        if candidates
            .chunks_exact(length)
            .zip(bases.chunks_exact(length))
            .any(is_wrong)
        {
            let what = "a base, which must be above 1 and below its candidate less 1, is not";
            return Err(BatchError::Refused(what.to_owned()).into());
        }
        let chunk = self.most_items();
        for ((candidates, bases), passed) in candidates
            .chunks(chunk * length)
            .zip(bases.chunks(chunk * length))
            .zip(passed.chunks_mut(chunk))
        {
            let tested = self.strong(candidates, bases, passed.len());
            let done = tested.and_then(|()| self.verdicts(passed));
            self.waited(done)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn few_zeros_are_not_counted() {
        assert_eq!(zeros_after_the_lowest_bit(&[0xff, 0xff, 0xff]), 0);
        assert_eq!(zeros_after_the_lowest_bit(&[0xff, 0x01, 0x01]), 0);
        assert_eq!(zeros_after_the_lowest_bit(&[0xff, 0x40, 0x01]), 0);
        assert_eq!(zeros_after_the_lowest_bit(&[0xff, 0x80, 0x01]), 14);
        assert_eq!(zeros_after_the_lowest_bit(&[0x80, 0x00, 0x01]), 22);
        assert_eq!(zeros_after_the_lowest_bit(&[0x05]), 0);
        assert_eq!(zeros_after_the_lowest_bit(&[0x01]), 7);
    }
}
