//! Items whose keys differ, done one by one by an engine that takes one key: each key is made ready by itself.

use crate::{
    engine::{Engine, EngineError, Prepared, RunStats, Runner, check_items},
    job::{Job, StudyKey},
    op::Layout,
};

/// Makes each of a job's keys ready.
pub(super) fn prepare<'e>(
    engine: &'e dyn Engine,
    job: &Job,
    keys: &[StudyKey],
) -> Result<Box<dyn Prepared + 'e>, EngineError> {
    let of_one = Job {
        keys: 1,
        batch: 1,
        ..job.engine_job()
    };
    let each = keys[..job.keys].iter();
    let each = each.map(|key| engine.prepare(&of_one, std::slice::from_ref(key)));
    Ok(Box::new(OneByOne {
        each: each.collect::<Result<_, _>>()?,
        layout: job.layout(),
    }))
}

struct OneByOne<'e> {
    each: Vec<Box<dyn Prepared + 'e>>,
    layout: Layout,
}

struct OneByOneRunner<'p> {
    each: Vec<Box<dyn Runner + 'p>>,
    layout: Layout,
}

impl Prepared for OneByOne<'_> {
    fn kernel(&self) -> String {
        self.each[0].kernel()
    }

    fn runner(&self) -> Result<Box<dyn Runner + '_>, EngineError> {
        let each = self.each.iter().map(|prepared| prepared.runner());
        Ok(Box::new(OneByOneRunner {
            each: each.collect::<Result<_, _>>()?,
            layout: self.layout,
        }))
    }
}

impl Runner for OneByOneRunner<'_> {
    fn run(&mut self, inputs: &[u8], outputs: &mut [u8]) -> Result<RunStats, EngineError> {
        let Layout { input, output } = self.layout;
        check_items(self.layout, inputs, outputs)?;
        let items = inputs.chunks_exact(input).zip(outputs.chunks_exact_mut(output));
        let keys = self.each.len();
        for (index, (input, output)) in items.enumerate() {
            self.each[index % keys]
                .run(input, output)
                .map_err(|error| match error {
                    EngineError::InputOutOfRange { .. } => EngineError::InputOutOfRange { index },
                    other => other,
                })?;
        }
        Ok(RunStats::default())
    }
}
