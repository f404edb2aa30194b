//! A job that a library does one item at a time.
//!
//! The engine provides the operation on one item; the loop over a batch, the lengths, the range of blocks and the
//! counts are the same for every engine, and are here. The operation's type is known to the loop, so that nothing is
//! called through a pointer inside it.

use crate::{
    engine::{EngineError, Prepared, RunStats, Runner, check_blocks, check_items},
    job::{Job, StudyKey},
    op::Layout,
};

/// A job on items of any content, made ready.
///
/// `thread` is called on each thread that will work, and returns the operation: a function of one item's input and
/// output, as [`Op::layout`](crate::Op::layout) lays them out. It returns what it counted: nothing, `()`, or the
/// primality tests it did. An operation on the key alone is done in `thread`, and is not timed.
pub fn items<'a, F, R>(
    kernel: impl Into<String>,
    job: &Job,
    thread: impl Fn() -> Result<F, EngineError> + Send + Sync + 'a,
) -> Box<dyn Prepared + 'a>
where
    F: FnMut(&[u8], &mut [u8]) -> Result<R, EngineError> + 'a,
    R: Into<RunStats> + 'a,
{
    boxed(kernel.into(), Items::Any(job.layout()), thread)
}

/// A job on raw blocks, made ready; as [`items`], but blocks that are not smaller than the key's modulus are refused.
pub fn blocks<'a, F, R>(
    kernel: impl Into<String>,
    key: &StudyKey,
    thread: impl Fn() -> Result<F, EngineError> + Send + Sync + 'a,
) -> Box<dyn Prepared + 'a>
where
    F: FnMut(&[u8], &mut [u8]) -> Result<R, EngineError> + 'a,
    R: Into<RunStats> + 'a,
{
    boxed(kernel.into(), Items::BelowModulus(key.n.clone()), thread)
}

fn boxed<'a, F, R>(
    kernel: String,
    items: Items,
    thread: impl Fn() -> Result<F, EngineError> + Send + Sync + 'a,
) -> Box<dyn Prepared + 'a>
where
    F: FnMut(&[u8], &mut [u8]) -> Result<R, EngineError> + 'a,
    R: Into<RunStats> + 'a,
{
    let runner = move || -> Result<PerItem<F>, EngineError> {
        Ok(PerItem {
            items: items.clone(),
            operation: thread()?,
        })
    };
    Box::new(Ready {
        kernel,
        runner: Box::new(move || Ok(Box::new(runner()?) as Box<dyn Runner + 'a>)),
    })
}

struct Ready<'a> {
    kernel: String,
    runner: Box<MakeRunner<'a>>,
}

type MakeRunner<'a> = dyn Fn() -> Result<Box<dyn Runner + 'a>, EngineError> + Send + Sync + 'a;

impl Prepared for Ready<'_> {
    fn kernel(&self) -> String {
        self.kernel.clone()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        (self.runner)()
    }
}

/// Which items are taken.
#[derive(Clone)]
enum Items {
    Any(Layout),
    /// Blocks of this modulus's length, and below it.
    BelowModulus(Vec<u8>),
}

struct PerItem<F> {
    items: Items,
    operation: F,
}

impl<F, R> Runner for PerItem<F>
where
    F: FnMut(&[u8], &mut [u8]) -> Result<R, EngineError>,
    R: Into<RunStats>,
{
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let layout = match &self.items {
            Items::Any(layout) => {
                check_items(*layout, inputs, outputs)?;
                *layout
            }
            Items::BelowModulus(modulus) => {
                check_blocks(inputs, outputs, modulus)?;
                Layout {
                    input: modulus.len(),
                    output: modulus.len(),
                }
            }
        };
        let mut tests = Some(0);
        // Not chunks of both: an item may have no input.
        let mut rest = inputs;
        for (index, output) in outputs.chunks_exact_mut(layout.output).enumerate() {
            let (input, more) = rest.split_at(layout.input);
            rest = more;
            let done = (self.operation)(input, output).map_err(|error| of_input(error, index))?;
            let counted: RunStats = done.into();
            tests = tests.zip(counted.tests).map(|(sum, more)| sum + more);
        }
        Ok(RunStats { tests })
    }
}

/// The failure with the input to which it happened: numbers that do not belong together may be in any of them.
fn of_input(error: EngineError, index: usize) -> EngineError {
    match error {
        EngineError::Key(message) => EngineError::Key(format!("input {index}: {message}")),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::op::Op;

    #[test]
    fn each_item_is_done_in_its_place_and_counts_add_up() {
        let job = Job::new(Op::Totient, 256);
        let Layout { input, output } = job.layout();
        let prepared = items("reverse", &job, || {
            let mut calls = 0_u64;
            Ok(move |from: &[u8], to: &mut [u8]| {
                calls += 1;
                to.fill(from[0]);
                Ok(calls)
            })
        });
        assert_eq!(prepared.kernel(), "reverse");
        let inputs: Vec<u8> = (1..=3).flat_map(|item| vec![item; input]).collect();
        let expected: Vec<u8> = (1..=3).flat_map(|item| vec![item; output]).collect();
        let mut outputs = vec![0; 3 * output];
        let mut runner = prepared.runner().unwrap();
        let stats = runner.run(&inputs, &mut outputs).unwrap();
        assert_eq!((stats.tests, outputs), (Some(1 + 2 + 3), expected));
        assert!(runner.run(&inputs[1..], &mut vec![0; 3 * output]).is_err());
    }

    #[test]
    fn nothing_is_made_up_where_nothing_was_counted_and_a_failure_names_its_input() {
        let job = Job::new(Op::Keygen, 256);
        let prepared = items("none", &job, || Ok(|_: &[u8], _: &mut [u8]| Ok(())));
        let mut made = vec![0; 2 * job.layout().output];
        let stats = prepared.runner().unwrap().run(&[], &mut made).unwrap();
        assert_eq!(stats, RunStats::default());
        let prepared = items("refuse", &job, || {
            let mut calls = 0;
            Ok(move |_: &[u8], _: &mut [u8]| {
                calls += 1;
                match calls {
                    1 => Ok(()),
                    _ => Err(EngineError::Key("a prime is zero".to_owned())),
                }
            })
        });
        let refused = prepared.runner().unwrap().run(&[], &mut made);
        let message = EngineError::Key("input 1: a prime is zero".to_owned());
        assert_eq!(refused, Err(message));
    }
}
