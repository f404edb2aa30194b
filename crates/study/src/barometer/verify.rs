//! The checks of an entry, in order. Each that fails is a refusal, with its name and a sentence.
//!
//! | check | what must hold |
//! |---|---|
//! | program | its checksum is one that was published for its version, and every session is of that version |
//! | facts | each session says what its CPU is, what the program may use, the operating system, and that it was optimised |
//! | cpu | the CPU's name, numbers and instruction sets belong together, in each session, and the entry's title says it |
//! | samples | engines do such jobs; blocks follow each other, are made of their samples, and their two clocks agree |
//! | figures | they follow from the samples, with intervals of a confidence that a plan can ask for |
//! | peak | no operation takes less work than is known to be possible |
//! | ratios | engines stand to each other, and operations to operations, as they do everywhere, within wide bounds |

use rsalab_engines::{Mode, Op, Reason, ledger::ClockOwner};
use rsalab_measure::Sample;
use serde::Deserialize;

use super::{
    cpus::cpus,
    entry::{Cell, Entry, Group, Session, Stated, Taken},
    peak,
    ratios::ratios,
    refusal::{Check, Refusal, Refusals},
};
use crate::number;

/// A program that was published.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct KnownProgram {
    /// Its version.
    pub version: String,
    /// The architecture that it was built for.
    pub target: String,
    /// The SHA-256 digest of its file.
    pub sha256: String,
}

/// The published programs that a file lists, each a `[[program]]`.
///
/// # Errors
/// The text is no such file; what is wrong with it.
pub fn known_programs(text: &str) -> Result<Vec<KnownProgram>, String> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Programs {
        #[serde(default, rename = "program")]
        programs: Vec<KnownProgram>,
    }
    let programs: Programs = toml::from_str(text).map_err(|error| error.message().to_owned())?;
    Ok(programs.programs)
}

/// The most refusals that an entry gets: one that is wrong throughout needs no more.
const MOST: usize = 20;

/// Checks an entry; empty if there is nothing against it.
pub fn verify(entry: &Entry, programs: &[KnownProgram]) -> Vec<Refusal> {
    let mut refusals = Refusals::default();
    program(entry, programs, &mut refusals);
    for session in &entry.sessions {
        facts(session, &mut refusals);
    }
    cpus(entry, &mut refusals);
    // What follows is computed from the jobs.
    if jobs(entry, &mut refusals) {
        for group in &entry.groups {
            for cell in &group.cells {
                samples(entry, group, cell, &mut refusals);
                figures(group, cell, &mut refusals);
                bound(entry, group, cell, &mut refusals);
            }
            in_order(group, &mut refusals);
        }
        ratios(entry, &mut refusals);
    }
    refusals.0.truncate(MOST);
    refusals.0
}

fn program(entry: &Entry, programs: &[KnownProgram], refusals: &mut Refusals) {
    let of_entry = &entry.program;
    let is_known = programs
        .iter()
        .any(|known| known.sha256.eq_ignore_ascii_case(&of_entry.sha256) && known.version == of_entry.version);
    refusals.unless(is_known, Check::Program, || {
        format!(
            "the entry was made by a program with the checksum {:.64}, which was not published as rsalab {:.40}",
            of_entry.sha256, of_entry.version
        )
    });
    for session in &entry.sessions {
        refusals.unless(session.program_version == of_entry.version, Check::Program, || {
            format!(
                "session {} was measured by rsalab {:.40}, and the entry made by {:.40}",
                session.number, session.program_version, of_entry.version
            )
        });
    }
}

fn facts(session: &Session, refusals: &mut Refusals) {
    let machine = &session.machine;
    let required = [
        ("the name of its CPU", machine.cpu_model.known().is_some()),
        ("its operating system", machine.os.known().is_some()),
        ("its kernel", machine.kernel.known().is_some()),
        ("its memory", machine.memory_bytes.known().is_some()),
        ("CPUs that it may use", machine.topology.allowed_cpus() > 0),
    ];
    for (what, is_known) in required {
        refusals.unless(is_known, Check::Facts, || {
            format!("session {} does not say {what}", session.number)
        });
    }
    let build = &machine.build;
    refusals.unless(build.is_optimised(), Check::Facts, || {
        format!(
            "session {} was measured by a program without optimisation",
            session.number
        )
    });
}

/// Returns whether there can be such jobs: the bounds of what a CPU does are of these.
fn jobs(entry: &Entry, refusals: &mut Refusals) -> bool {
    let faults = entry.groups.iter().filter_map(|group| group.job.check().err());
    let faults: Vec<Reason> = faults.collect();
    for fault in &faults {
        refusals.unless(false, Check::Samples, || {
            format!("no engine does the job: {:.200}", fault.0)
        });
    }
    faults.is_empty()
}

fn samples(entry: &Entry, group: &Group, cell: &Cell, refusals: &mut Refusals) {
    let mut fault: Option<String> = None;
    let mut found = |holds: bool, what: &str| {
        if !holds && fault.is_none() {
            fault = Some(what.to_owned());
        }
    };
    found(!cell.blocks.is_empty(), "it has no blocks");
    found(cell.info.optimised, "its engine was built without optimisation");
    for taken in &cell.blocks {
        let block = &taken.report.block;
        let session = entry.sessions.iter().find(|session| session.number == taken.session);
        found(session.is_some(), "a block is of a session that is not there");
        found(!block.samples.is_empty(), "a block has no samples");
        let mut measured_ns: u64 = 0;
        for sample in &block.samples {
            let most = sample.elapsed_ns.max(1).saturating_mul(group.job.threads as u64);
            found(sample.operations > 0, "a sample has no operations");
            found(
                sample.operations <= most || group.job.op == Op::HandshakeResumed,
                "a sample has more operations than nanoseconds",
            );
            measured_ns = measured_ns.saturating_add(sample.elapsed_ns);
        }
        let at_once = match group.job.mode {
            Mode::Concurrent => group.job.threads as u64,
            Mode::Latency | Mode::Throughput => 1,
        };
        found(
            measured_ns <= block.elapsed_ns.saturating_mul(at_once),
            "the samples of a block take longer than the block",
        );
    }
    found(
        clocks_agree(entry, cell),
        "the time-stamp counter and the clock do not agree on how long its samples took",
    );
    // Nothing that runs takes the same time again and again, to the nanosecond.
    let rates: Vec<(u64, u64)> = cell
        .blocks
        .iter()
        .map(|taken| (taken.report.block.operations(), taken.report.block.measured_ns()))
        .collect();
    let is_constant = rates.len() >= 4 && rates.iter().all(|rate| *rate == rates[0]);
    found(!is_constant, "all its blocks took the same time to the nanosecond");
    refusals.unless(fault.is_none(), Check::Samples, || {
        format!("{}: {}", cell.title(&group.job), fault.unwrap_or_default())
    });
}

/// Returns whether the two clocks that timed the samples of a cell agree within one per cent, in the median: of one
/// sample they may not, where its thread lost the CPU between the readings of the two.
fn clocks_agree(entry: &Entry, cell: &Cell) -> bool {
    // Of less the clocks' own cost is a part.
    const LEAST_NS: u64 = 50_000;
    let mut ratios: Vec<f64> = Vec::new();
    for taken in &cell.blocks {
        let session = entry.sessions.iter().find(|session| session.number == taken.session);
        let Some(hz) = session.and_then(|session| session.machine.tsc.known().map(|rate| rate.hz)) else {
            continue;
        };
        let samples = taken.report.block.samples.iter();
        let ratio = |sample: &Sample| Some(sample.tsc_ticks? as f64 / hz * 1e9 / sample.elapsed_ns as f64);
        ratios.extend(samples.filter(|sample| sample.elapsed_ns >= LEAST_NS).filter_map(ratio));
    }
    ratios.sort_by(f64::total_cmp);
    ratios
        .get(ratios.len() / 2)
        .is_none_or(|median| (median - 1.0).abs() < 0.01)
}

/// The blocks of a group were measured one after the other, where one clock timed them.
fn in_order(group: &Group, refusals: &mut Refusals) {
    let timed = group
        .cells
        .iter()
        .filter(|cell| cell.ledger.clock == ClockOwner::Harness);
    let mut blocks: Vec<&Taken> = timed.flat_map(|cell| &cell.blocks).collect();
    blocks.sort_by_key(|taken| (taken.session, taken.order));
    let follows = blocks.windows(2).all(|pair| {
        let [one, next] = [&pair[0], &pair[1]];
        let end = one.report.block.started_ns.saturating_add(one.report.block.elapsed_ns);
        one.session != next.session || (one.order < next.order && end <= next.report.block.started_ns)
    });
    refusals.unless(follows, Check::Samples, || {
        format!(
            "{}: blocks that were measured one after the other overlap in time",
            crate::plan::title(&group.job)
        )
    });
}

fn figures(group: &Group, cell: &Cell, refusals: &mut Refusals) {
    let has_samples = cell.blocks.iter().all(|taken| !taken.report.block.samples.is_empty());
    let confidence = group.confidence;
    // As plans have it: with less, intervals look narrower than anybody's.
    let computed = match has_samples && (0.5..1.0).contains(&confidence) {
        true => cell.computed(&group.job, confidence),
        false => None,
    };
    let is_same = |stated: f64, computed: f64| (stated / computed - 1.0).abs() < 1e-9;
    let pairs = |computed: Stated| {
        let stated = cell.stated;
        [
            (stated.ops_per_s, computed.ops_per_s),
            (stated.ops_per_s_low, computed.ops_per_s_low),
            (stated.ops_per_s_high, computed.ops_per_s_high),
            (stated.ns_per_op, computed.ns_per_op),
        ]
    };
    let follow = computed.is_some_and(|computed| pairs(computed).into_iter().all(|(one, other)| is_same(one, other)));
    refusals.unless(follow, Check::Figures, || {
        let what = cell.title(&group.job);
        match computed {
            None => format!("{what}: no figures follow from its samples with intervals of its confidence"),
            Some(computed) => format!(
                "{what}: {} operations a second are stated, and {} follow from the samples",
                number::significant(cell.stated.ops_per_s),
                number::significant(computed.ops_per_s)
            ),
        }
    });
}

fn bound(entry: &Entry, group: &Group, cell: &Cell, refusals: &mut Refusals) {
    let (Some(least), Some(session)) = (peak::least_products(&group.job, &cell.ledger), entry.sessions.first()) else {
        return;
    };
    if !peak::is_on_cpu(&cell.engine) {
        return;
    }
    let Some(speed) = cell.speed(&group.job) else {
        return;
    };
    let threads = match cell.engine.as_str() {
        // Of two threads for each that the harness starts.
        "textbook:halves" => 2 * group.job.threads,
        _ => group.job.threads,
    };
    let most = peak::most_products_per_s(&session.machine, threads) / least;
    refusals.unless(speed <= most, Check::Peak, || {
        format!(
            "{}: {} operations a second, where this CPU's multipliers allow {} at most",
            cell.title(&group.job),
            number::significant(speed),
            number::significant(most)
        )
    });
}
