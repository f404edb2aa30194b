//! Support for several tests: a machine, an engine, and studies with planted results.

pub(crate) mod mock;

use std::{path::Path, sync::LazyLock};

use rsalab_engines::{
    BlockReport, EngineInfo, Ledger, Readiness,
    ledger::{ClockOwner, ThreadOwner},
};
use rsalab_measure::{Block, Machine, Sample, Topology, topology::Cpu};
use rsalab_study::{
    Study,
    plan::{Host, Plan},
    store::{Beginning, BlockRecord, CellRecord, GroupRecord, SessionNumber, SessionStart, TakenBlock},
};

/// This machine with two cores, whatever CPUs and quota the tests have.
pub(crate) static MACHINE: LazyLock<Machine> = LazyLock::new(|| machine(2, 1));

/// This machine as if it had so many cores, each of which runs so many threads, and no quota.
pub(crate) fn machine(cores: usize, threads_per_core: usize) -> Machine {
    static HERE: LazyLock<Machine> = LazyLock::new(Machine::describe);
    let cpu = |id: usize| Cpu {
        id,
        core: id % cores,
        package: 0,
        numa_node: 0,
        smt_index: id / cores,
        capacity: None,
        allowed: true,
    };
    let mut machine = HERE.clone();
    machine.topology = Topology {
        cpus: (0..cores * threads_per_core).map(cpu).collect(),
        quota: None,
        unknown: None,
    };
    machine
}

pub(crate) fn host(present: &[&str], logical_cpus: usize) -> Host {
    let names = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    Host {
        known: names(&[
            "own",
            "textbook",
            "openssl",
            "libcrypto",
            "gmp",
            "aws-lc",
            "crypto_mb",
            "ippcp",
            "cryptopp",
            "rustcrypto",
            "go",
            "jca",
            "java",
            "c-openmp",
            "gpu",
        ]),
        present: names(present),
        logical_cpus,
    }
}

pub(crate) fn info(engine: &str) -> EngineInfo {
    EngineInfo {
        name: engine.to_owned(),
        version: format!("{engine} 1.2"),
        origin: "a test".to_owned(),
        cpu_path: None,
        variants: Vec::new(),
        optimised: true,
    }
}

pub(crate) fn ledger() -> Ledger {
    Ledger {
        crt: Some(true),
        blinding: Some(true),
        result_check: Some(true),
        constant_time: Some(true),
        rounds: None,
        sieve: None,
        exponent: Some(rsalab_engines::Exponent::F4),
        primes: None,
        keys: None,
        padding: None,
        setup: "contexts".to_owned(),
        lanes: 1,
        threads: ThreadOwner::Harness,
        clock: ClockOwner::Harness,
    }
}

pub(crate) fn readiness() -> Readiness {
    Readiness {
        kernel: "portable".to_owned(),
        cpus: vec![0],
        oversubscribed: false,
        first_call: None,
    }
}

pub(crate) fn beginning(engine: &str) -> Beginning {
    Beginning {
        info: info(engine),
        ledger: ledger(),
        readiness: readiness(),
        notes: Vec::new(),
    }
}

/// A block of samples of one operation each, with these times.
pub(crate) fn block(times_ns: impl IntoIterator<Item = u64>) -> BlockReport {
    let sample = |elapsed_ns| Sample {
        elapsed_ns,
        tsc_ticks: Some(elapsed_ns * 23 / 10),
        operations: 1,
    };
    let samples: Vec<Sample> = times_ns.into_iter().map(sample).collect();
    let elapsed_ns = samples.iter().map(|sample| sample.elapsed_ns).sum();
    BlockReport {
        block: Block {
            samples,
            discarded_operations: 0,
            discarded_ns: None,
            started_ns: 0,
            elapsed_ns,
        },
        tests: Vec::new(),
        outputs: Vec::new(),
        trace: Vec::new(),
        cpu: None,
    }
}

/// A study whose cells are filled by hand.
pub(crate) struct Planted {
    pub(crate) study: Study,
    pub(crate) session: SessionNumber,
}

impl Planted {
    pub(crate) fn new(directory: &Path, plan: &str, host: &Host) -> Planted {
        Planted::on(&MACHINE, directory, plan, host)
    }

    /// As if another machine had measured.
    pub(crate) fn on(machine: &Machine, directory: &Path, plan: &str, host: &Host) -> Planted {
        let plan = Plan::parse(plan, host).unwrap();
        let mut study = Study::create(directory, &plan, host, "rsalab study planted.toml").unwrap();
        let start = SessionStart { machine, warnings: &[] };
        let session = study.store_mut().begin_session(&start).unwrap();
        Planted { study, session }
    }

    pub(crate) fn groups(&self) -> Vec<GroupRecord> {
        self.study.store().groups().unwrap()
    }

    /// Begins a cell; its place among the group's cells is kept for the order of blocks.
    pub(crate) fn begin(&mut self, cell: &CellRecord, beginning: &Beginning) {
        self.study.store_mut().begin_cell(cell.id, beginning).unwrap();
    }

    pub(crate) fn add(&mut self, group: &GroupRecord, place: usize, round: usize, report: BlockReport) {
        let order_index = (round * group.cells.len() + place) as u64;
        let taken = TakenBlock {
            order_index,
            round,
            worker_pid: Some(1),
            report,
            losses: None,
        };
        let record = BlockRecord {
            cell: group.cells[place].id,
            session: self.session,
            taken,
        };
        self.study.store_mut().add_block(group.id, &record).unwrap();
    }

    /// Fills and completes a cell: six blocks of ten samples around a time, spread by 1 % up and down, each cell with
    /// noise of its own.
    pub(crate) fn fill(&mut self, group: &GroupRecord, place: usize, beginning: &Beginning, ns_per_op: f64) {
        self.begin(&group.cells[place], beginning);
        for round in 0..6 {
            let times = (0..10).map(|index| {
                let noise = (index + 3 * round + 5 * place * round) % 11;
                ns_per_op * (0.99 + 0.002 * noise as f64)
            });
            self.add(group, place, round, block(times.map(|ns| ns as u64)));
        }
        self.study
            .store_mut()
            .complete_cell(group.cells[place].id, &beginning.notes)
            .unwrap();
    }
}
