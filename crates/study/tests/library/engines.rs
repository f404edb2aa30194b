//! A whole study on a real engine, over the real protocol, to the report.

use std::{
    fs,
    sync::{Arc, atomic::AtomicBool},
};

use rsalab_engines::{Limits, Session, Textbook, Worker};
use rsalab_study::{
    Study, articles,
    plan::Preset,
    report,
    run::{self, Environment, Event, LaunchError, Launcher},
    store::Ending,
};

use crate::support;

/// Engines on threads of this process.
struct InProcess;

impl Launcher for InProcess {
    fn launch(&self, selector: &str, _: &Arc<AtomicBool>) -> Result<Box<dyn Session>, LaunchError> {
        assert_eq!(selector, "textbook");
        Ok(Box::new(Worker::in_process(Arc::new(Textbook), Limits::default())?))
    }
}

#[test]
fn smoke_runs_from_plan_to_page() {
    let directory = tempfile::tempdir().unwrap();
    let host = support::host(&["textbook"], 2);
    let mut study = Study::create(directory.path(), &Preset::Smoke.plan(&host), &host, "a test").unwrap();
    let around = Environment {
        launcher: &InProcess,
        machine: support::MACHINE.clone(),
        warnings: Vec::new(),
        // Tests are built with assertions, and the engine says so.
        allow_unoptimised: true,
    };
    let stop = Arc::new(AtomicBool::new(false));
    let ending = run::run(&mut study, &around, &mut |_: &Event<'_>| {}, &stop).unwrap();
    assert_eq!(ending, Ending::Complete);
    for group in study.store().groups().unwrap() {
        let cell = &group.cells[0];
        let expected = if group.job.op.is_deterministic() {
            "done"
        } else {
            "unsupported"
        };
        assert_eq!(cell.state.name(), expected, "{}: {:?}", group.job.op, cell.state);
        let blocks = study.store().blocks(group.id).unwrap();
        assert_eq!(blocks.len(), if expected == "done" { 2 } else { 0 });
        for block in &blocks {
            let traced = if group.job.op.is_text() { group.job.threads } else { 0 };
            assert_eq!(block.taken.report.trace.len(), traced, "{}", group.job.op);
        }
    }
    let page = report::write(
        &articles::report(study.store()).unwrap(),
        &directory.path().join("report"),
    )
    .unwrap();
    let page = fs::read_to_string(page).unwrap();
    assert!(page.contains("Complete: 7 cells, 6 done, 1 unsupported."));
    assert!(page.contains("Text decryption, 512 bits, 500 symbols: speed over threads"));
    assert!(page.contains("the article's algorithms are exponentiation only") || page.contains("exponentiation only"));
}
