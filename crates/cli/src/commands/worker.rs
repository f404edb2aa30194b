//! `rsalab worker`: one of our own engines at the other end of a pipe.

use std::process::ExitCode;

use rsalab_engines::{
    Engine, OnDevice, Own, Textbook,
    worker::{self, Delay, Delayed},
};

use crate::{
    arguments::Worker,
    exit::{Class, Failure, Result},
    kernels,
};

/// Serves an engine until its coordinator is done.
pub(crate) fn run(arguments: &Worker) -> Result<ExitCode> {
    let engine: Box<dyn Engine> = match arguments.engine.as_str() {
        "own" => Box::new(own(arguments.kernel.kernel.as_deref())?),
        "textbook" => Box::new(Textbook),
        "gpu" => Box::new(OnDevice::new()),
        name => {
            let what = format!("this program does not serve the engine '{name}'");
            return Err(Failure::new(Class::Usage, what)
                .advice("it serves own, textbook and gpu; 'rsalab engines' lists the others"));
        }
    };
    match arguments.plant {
        Some(share) => {
            let pause_ms = arguments.pause;
            Ok(worker::serve_stdio(&Delayed::new(engine, Delay { share, pause_ms })))
        }
        None => Ok(worker::serve_stdio(engine.as_ref())),
    }
}

fn own(kernel: Option<&str>) -> Result<Own> {
    let Some(name) = kernel else {
        return Ok(Own::auto());
    };
    kernels::check(name)?;
    Own::with_kernel(name).map_err(|reason| Failure::new(Class::Unavailable, reason.0))
}
