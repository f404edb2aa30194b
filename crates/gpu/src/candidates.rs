//! Tests of candidates for primes on a device, each candidate a modulus of its own.

use std::sync::Arc;

use rsalab_arith::integer;
use rsalab_rsa::{CandidateTester, Error, error::check_len};

use crate::{
    Failed,
    driver::{Device, Failure, Queue},
    kernel::{Kernel, Launch},
    unit::{Launcher, Unit, Wiped, intervals},
};

/// Bits of a base's exponent that are looked up at once. It divides 32, so that no digit lies in two limbs.
const WINDOW: usize = 4;

/// Bits at the end of a candidate that are always taken one at a time, so that nothing tells how many of them are zero.
const SINGLE_BITS: usize = 16;

/// One thread's runner for testing candidates of one length.
pub(crate) struct Tester<D: Device> {
    unit: Arc<Unit<D>>,
    launch: Launch,
    program: Arc<D::Program>,
    queue: D::Queue,
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
    pub(crate) fn new(unit: &Arc<Unit<D>>, launch: Launch, bits: usize) -> Result<Self, Failure> {
        let limbs = bits.div_ceil(32);
        Ok(Tester {
            launch,
            program: unit.program(limbs)?,
            queue: unit.device.queue()?,
            unit: Arc::clone(unit),
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
        let device = self.unit.device.description();
        let table = (4 * self.limbs) << WINDOW;
        let most = (device.memory / 8 / (2 * table)).min(device.largest_buffer / table);
        1 << most.clamp(1, 1 << 17).ilog2()
    }

    fn make_buffers(&mut self, items: usize) -> Result<(), Failure> {
        if self
            .buffers
            .as_ref()
            .is_some_and(|buffers| buffers.items >= items)
        {
            return Ok(());
        }
        self.buffers = None;
        let items = items.next_power_of_two();
        let numbers = items * self.limbs;
        let words = |words: usize| Wiped::words(&self.unit, words);
        self.buffers = Some(Buffers {
            items,
            candidates: Wiped::bytes(&self.unit, items * self.length())?,
            bases: Wiped::bytes(&self.unit, items * self.length())?,
            moduli: words(numbers)?,
            ones: words(numbers)?,
            states: words(numbers)?,
            table: words(numbers << WINDOW)?,
            passed: words(items)?,
        });
        Ok(())
    }

    /// Candidates, the shortest of `shortest` bits, as moduli. The states are 1.
    fn enter(&mut self, candidates: &[u8], count: usize, shortest: usize) -> Result<(), Failure> {
        self.make_buffers(count)?;
        let length = self.length();
        let buffers = self.buffers.as_ref().expect("it was just made");
        self.queue.upload(&buffers.candidates.buffer, candidates)?;
        let mut launcher = Launcher {
            unit: &self.unit,
            queue: &mut self.queue,
            launch: self.launch,
        };
        launcher.run(
            &self.program,
            Kernel::CandidateEnter,
            count,
            &[
                &buffers.candidates.buffer,
                &buffers.moduli.buffer,
                &buffers.ones.buffer,
                &buffers.states.buffer,
            ],
            &[shortest - 1, self.limbs, length, count, buffers.items],
        )
    }

    /// Is 2^((w−1)/2) = ±1 mod w, for candidates of exactly the tester's length in bits?
    fn two(&mut self, candidates: &[u8], passed: &mut [bool]) -> Result<(), Failure> {
        let count = passed.len();
        self.enter(candidates, count, self.bits)?;
        let buffers = self.buffers.as_ref().expect("it was made to enter");
        let mut launcher = Launcher {
            unit: &self.unit,
            queue: &mut self.queue,
            launch: self.launch,
        };
        let top = self.bits - 1;
        for (first, last) in intervals(top, 1, self.limbs, count) {
            launcher.run(
                &self.program,
                Kernel::TwoBits,
                count,
                &[&buffers.states.buffer, &buffers.moduli.buffer],
                &[top - first, top - last, self.limbs, count, buffers.items],
            )?;
        }
        launcher.run(
            &self.program,
            Kernel::TwoVerdict,
            count,
            &[
                &buffers.states.buffer,
                &buffers.moduli.buffer,
                &buffers.ones.buffer,
                &buffers.passed.buffer,
            ],
            &[self.limbs, count, buffers.items],
        )?;
        self.verdicts(passed)
    }

    /// One Miller–Rabin round for each candidate.
    fn strong(
        &mut self,
        candidates: &[u8],
        bases: &[u8],
        passed: &mut [bool],
    ) -> Result<(), Failure> {
        let (count, length) = (passed.len(), self.length());
        let each = || candidates.chunks_exact(length);
        let lengths = || each().map(integer::bits_vartime);
        let shortest = lengths().min().unwrap_or(self.bits);
        let longest = lengths().max().unwrap_or(self.bits);
        self.enter(candidates, count, shortest)?;
        let buffers = self.buffers.as_ref().expect("it was made to enter");
        self.queue.upload(&buffers.bases.buffer, bases)?;
        let mut launcher = Launcher {
            unit: &self.unit,
            queue: &mut self.queue,
            launch: self.launch,
        };
        launcher.run(
            &self.program,
            Kernel::BaseEnter,
            count,
            &[
                &buffers.bases.buffer,
                &buffers.states.buffer,
                &buffers.table.buffer,
                &buffers.moduli.buffer,
                &buffers.ones.buffer,
            ],
            &[WINDOW, self.limbs, length, count, buffers.items],
        )?;
        let zeros = each().map(zeros_after_the_lowest_bit).max().unwrap_or(0);
        // One more than the zeros at the end of w - 1, which are one more than these.
        let low = (zeros + 2).next_multiple_of(WINDOW).max(SINGLE_BITS);
        let high = longest.next_multiple_of(WINDOW).max(low);
        for (first, last) in intervals((high - low) / WINDOW, WINDOW + 1, self.limbs, count) {
            launcher.run(
                &self.program,
                Kernel::BaseDigits,
                count,
                &[
                    &buffers.states.buffer,
                    &buffers.table.buffer,
                    &buffers.moduli.buffer,
                ],
                &[
                    high - first * WINDOW,
                    high - last * WINDOW,
                    WINDOW,
                    self.limbs,
                    count,
                    buffers.items,
                ],
            )?;
        }
        launcher.run(
            &self.program,
            Kernel::BaseVerdict,
            count,
            &[
                &buffers.states.buffer,
                &buffers.table.buffer,
                &buffers.moduli.buffer,
                &buffers.ones.buffer,
                &buffers.passed.buffer,
            ],
            &[low, self.limbs, count, buffers.items],
        )?;
        self.verdicts(passed)
    }

    fn verdicts(&mut self, passed: &mut [bool]) -> Result<(), Failure> {
        let buffers = self.buffers.as_ref().expect("it was made to enter");
        let download = self
            .queue
            .download(&buffers.passed.buffer, 4 * passed.len())?;
        self.queue.finish()?;
        let words = self.queue.downloaded(&download).chunks_exact(4);
        for (passed, word) in passed.iter_mut().zip(words) {
            *passed = word[0] == 1;
        }
        Ok(())
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
            true => Err(Failed::Refused(format!(
                "a candidate, which must be odd and {what}, is not"
            ))
            .into()),
            false => Ok(()),
        }
    }
}

/// How many zeros a number has above its lowest bit, which is one: mostly none, in a candidate one or two. Where there are more than the
/// bits that are taken one by one anyway, which happens to one candidate in 2^14, time tells.
fn zeros_after_the_lowest_bit(w: &[u8]) -> usize {
    let bits = w
        .iter()
        .rev()
        .flat_map(|&byte| (0..8).map(move |bit| byte >> bit & 1));
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
        for (candidates, passed) in candidates
            .chunks(chunk * self.length())
            .zip(passed.chunks_mut(chunk))
        {
            self.two(candidates, passed).map_err(Failed::from)?;
        }
        Ok(())
    }

    fn round(&mut self, candidates: &[u8], bases: &[u8], passed: &mut [bool]) -> Result<(), Error> {
        let length = self.length();
        self.check_candidates(candidates, passed.len(), |length| length > 2, "above 4")?;
        check_len("the bases", bases.len(), passed.len() * length)?;
        let is_wrong = |(w, b): (&[u8], &[u8])| {
            // w is odd: less 1, it is another last byte.
            let mut below = w.to_vec();
            below[length - 1] &= !1;
            !integer::is_less(&[1], b) || !integer::is_less(b, &below)
        };
        if candidates
            .chunks_exact(length)
            .zip(bases.chunks_exact(length))
            .any(is_wrong)
        {
            let what = "a base, which must be above 1 and below its candidate less 1, is not";
            return Err(Failed::Refused(what.to_owned()).into());
        }
        let chunk = self.most_items();
        for ((candidates, bases), passed) in candidates
            .chunks(chunk * length)
            .zip(bases.chunks(chunk * length))
            .zip(passed.chunks_mut(chunk))
        {
            self.strong(candidates, bases, passed)
                .map_err(Failed::from)?;
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
