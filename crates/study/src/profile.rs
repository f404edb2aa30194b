//! A machine's profile from a study: the best setting of our own engine for each operation and size, and the fastest
//! engine of all.
//!
//! ```text
//! settings of a size   each number of threads, batch and kernel that was measured, undisturbed
//! best                 of those within 2 % of the fastest the plainest: no forced kernel, few threads, a small batch
//! ```
//!
//! Settings are compared by their speeds, pauses included. Where disturbed cells are asked for, all are compared by the
//! medians of their times instead: pauses are then somebody else's, and say nothing of the settings.
//!
//! A setting that is faster by less than the machine drifts is not worth a thread. Whether a profile keeps its promise
//! is measured by another study of the same cells: [`compared`].

use std::collections::BTreeSet;

use rsalab_engines::{Exponent, Job, Mode, ledger::ThreadOwner};
use rsalab_measure::{Estimate, Machine};
use rsalab_rsa::profile::{Choice, Cpu, Profile, VERSION};
use serde::Serialize;

use crate::{
    articles,
    compare::Figures,
    cpus::Cpus,
    error::Error,
    number,
    report::{Group, Report, Row, speed_of, unit_of},
    significance::DRIFT,
    store::Store,
};

/// A profile, and what it was not made of.
#[derive(Clone, Debug)]
pub struct Made {
    /// The profile.
    pub profile: Profile,
    /// Cells that were disturbed: the operations and sizes that have one are left out, or not, as was asked.
    pub disturbed: usize,
}

/// One setting of a profile, compared with all settings that a study measured.
#[derive(Clone, Debug, Serialize)]
pub struct Compared {
    /// The operation, its key size, and of a text its length.
    pub operation: String,
    /// Bits of the modulus.
    pub bits: usize,
    /// Bytes of the text, or 0.
    pub symbols: usize,
    /// The profile's setting in words.
    pub setting: String,
    /// The fastest setting in words.
    pub fastest: String,
    /// The speed with the profile's setting, divided by that of the fastest.
    pub share: Estimate,
    /// Settings that were compared.
    pub settings: usize,
}

/// Why a study makes no profile.
#[derive(Debug, thiserror::Error)]
pub enum ProfileError {
    /// The study cannot be read.
    #[error(transparent)]
    Study(#[from] Error),
    /// It has been measured on several machines, or on none.
    #[error("{0}")]
    Machine(String),
    /// Nothing of our own engine was measured, or all of it was disturbed.
    #[error("{0}")]
    Nothing(String),
}

/// A measured setting of our own engine.
struct Setting {
    threads: usize,
    batch: usize,
    kernel: Option<String>,
    speed: Estimate,
    call_ns: f64,
    unit: &'static str,
    is_disturbed: bool,
}

/// An operation at a size: those that a profile has no setting for in addition (exponents, more primes) are not among
/// them.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Place {
    op: rsalab_engines::Op,
    bits: usize,
    symbols: usize,
}

impl Place {
    fn of(job: &Job) -> Option<Place> {
        let is_plain = job.exponent == Exponent::F4
            && job.primes == 2
            && job.keys == 1
            && job.message_bytes == 0
            && job.message_bits.is_none()
            && !job.bare
            && job.mode != Mode::Concurrent
            && (!job.op.is_text() || job.block_symbols + 1 == job.bits.div_ceil(8));
        is_plain.then_some(Place {
            op: job.op,
            bits: job.bits,
            symbols: job.symbols,
        })
    }
}

/// The profile of a study. An operation and size of which a cell was disturbed is left out, unless these are asked for.
///
/// # Errors
/// [`ProfileError`].
pub fn of(store: &Store, with_disturbed: bool) -> Result<Made, ProfileError> {
    let cpu = machine(store)?;
    let report = articles::report(store).map_err(Error::from)?;
    let mut disturbed = 0;
    let mut choices = Vec::new();
    for place in places(&report) {
        let all = settings(&report, place, with_disturbed);
        let of_place = all.iter().filter(|setting| setting.is_disturbed).count();
        disturbed += of_place;
        // Of those that are left the best would be the best of what nobody disturbed, not of all.
        if of_place == 0 || with_disturbed {
            choices.extend(choice(&report, place, all, with_disturbed));
        }
    }
    if choices.is_empty() {
        return Err(ProfileError::Nothing(match disturbed {
            0 => "no cell of the engine 'own' is done".to_owned(),
            _ => format!(
                "of every operation and size {} of the engine 'own' had a disturbance",
                number::counted(disturbed, "cell")
            ),
        }));
    }
    Ok(Made {
        profile: Profile {
            version: VERSION,
            made_by: format!("rsalab {}", crate::version::VERSION),
            study: report.title,
            cpu,
            choices,
        },
        disturbed,
    })
}

/// A profile's settings compared with every setting that a study has measured for the same operation and size. Where a
/// cell was disturbed nothing is compared, unless these are asked for.
///
/// # Errors
/// The study cannot be read, or is of another machine.
pub fn compared(profile: &Profile, store: &Store, with_disturbed: bool) -> Result<Vec<Compared>, ProfileError> {
    let cpu = machine(store)?;
    profile
        .check_against(&cpu)
        .map_err(|error| ProfileError::Machine(error.to_string()))?;
    let report = articles::report(store).map_err(Error::from)?;
    let of_place = |place: Place| {
        let chosen = match place.op {
            rsalab_engines::Op::TextEncrypt => {
                profile.text(rsalab_rsa::profile::Text::Encrypt, place.bits, place.symbols)
            }
            rsalab_engines::Op::TextDecrypt => {
                profile.text(rsalab_rsa::profile::Text::Decrypt, place.bits, place.symbols)
            }
            op => profile.operation(op.name(), place.bits),
        }?;
        let all = settings(&report, place, with_disturbed);
        if !with_disturbed && all.iter().any(|setting| setting.is_disturbed) {
            return None;
        }
        let own = all.iter().find(|setting| {
            (setting.threads, setting.batch, &setting.kernel) == (chosen.threads, chosen.batch, &chosen.kernel)
        })?;
        let fastest = fastest(&all)?;
        Some(Compared {
            operation: place.op.name().to_owned(),
            bits: place.bits,
            symbols: place.symbols,
            setting: own.words(),
            fastest: fastest.words(),
            share: match std::ptr::eq(own, fastest) {
                true => exact(),
                false => own.speed.over(&fastest.speed),
            },
            settings: all.len(),
        })
    };
    Ok(places(&report).into_iter().filter_map(of_place).collect())
}

fn exact() -> Estimate {
    Estimate {
        value: 1.0,
        low: 1.0,
        high: 1.0,
        confidence: 0.0,
        n: 1,
    }
}

/// The one machine that all sessions ran on.
fn machine(store: &Store) -> Result<Cpu, ProfileError> {
    let sessions = store.sessions().map_err(Error::from)?;
    let mut cpus: Vec<Cpu> = sessions.iter().map(|session| described(&session.machine)).collect();
    cpus.dedup();
    match &cpus[..] {
        [] => Err(ProfileError::Machine("the study was never started".to_owned())),
        [only] if only.is_known() => Ok(only.clone()),
        [_] => Err(ProfileError::Machine(
            "the study does not say which CPU it was measured on".to_owned(),
        )),
        [first, other, ..] => Err(ProfileError::Machine(format!(
            "the study was measured on two machines: {first}, and {other}"
        ))),
    }
}

/// The CPU of a machine, as a profile names it.
pub fn described(machine: &Machine) -> Cpu {
    let known = |fact: &rsalab_measure::Fact<String>| fact.known().cloned().unwrap_or_default();
    let cpus = Cpus::of(machine).logical;
    Cpu::described(&known(&machine.cpu_model), &known(&machine.cpu_revision), cpus)
}

fn places(report: &Report) -> BTreeSet<Place> {
    report.groups.iter().filter_map(|group| Place::of(&group.job)).collect()
}

fn groups(report: &Report, place: Place) -> impl Iterator<Item = &Group> {
    let is_here = move |group: &&Group| Place::of(&group.job) == Some(place);
    report.groups.iter().filter(is_here)
}

fn settings(report: &Report, place: Place, by_median: bool) -> Vec<Setting> {
    let of_group = |group: &'_ Group| {
        let of_row = |row: &Row| Setting::of(&group.job, row, by_median);
        group.rows.iter().filter_map(of_row).collect::<Vec<_>>()
    };
    groups(report, place).flat_map(of_group).collect()
}

impl Setting {
    fn of(job: &Job, row: &Row, by_median: bool) -> Option<Setting> {
        let kernel = match row.engine.split_once(':') {
            None if row.engine == "own" => None,
            Some(("own", variant)) => Some(
                rsalab_rsa::kernels()
                    .into_iter()
                    .find(|kernel| kernel.name == variant)?,
            ),
            _ => return None,
        };
        let figures = row.figures?;
        let at_once = match row.ledger.as_ref()?.threads {
            ThreadOwner::Harness if !job.op.is_text() => job.threads,
            _ => 1,
        };
        Some(Setting {
            threads: job.threads,
            batch: job.batch,
            kernel: kernel.map(|kernel| kernel.name.to_owned()),
            speed: speed_of(job, &speed(&figures, by_median)),
            call_ns: figures.ns_per_op.value * (job.batch * at_once) as f64,
            unit: unit_of(job),
            is_disturbed: row.disturbance.as_ref().is_some_and(|it| it.is_grave()),
        })
    }

    fn words(&self) -> String {
        let threads = crate::number::counted(self.threads, "thread");
        let batch = (self.batch > 1).then(|| format!(", batch {}", self.batch));
        let kernel = self.kernel.as_ref().map(|kernel| format!(", {kernel}"));
        threads + &batch.unwrap_or_default() + &kernel.unwrap_or_default()
    }
}

/// Operations in a second: with pauses, or by the median of the time.
fn speed(figures: &Figures, by_median: bool) -> Estimate {
    match by_median && figures.ns_per_op.low > 0.0 {
        true => figures.ns_per_op.reciprocal().scaled(1e9),
        false => figures.ops_per_s,
    }
}

fn fastest(settings: &[Setting]) -> Option<&Setting> {
    settings
        .iter()
        .max_by(|one, other| one.speed.value.total_cmp(&other.speed.value))
}

fn choice(report: &Report, place: Place, settings: Vec<Setting>, with_disturbed: bool) -> Option<Choice> {
    let most = fastest(&settings)?.speed.value;
    let alike = settings
        .iter()
        .filter(|setting| setting.speed.value >= most * (1.0 - DRIFT));
    let best = alike.min_by_key(|setting| (setting.kernel.is_some(), setting.threads, setting.batch))?;
    let rows = groups(report, place).flat_map(|group| {
        let of_row = |row: &Row| {
            let is_disturbed = row.disturbance.as_ref().is_some_and(|it| it.is_grave());
            let figures = row.figures.filter(|_| with_disturbed || !is_disturbed)?;
            Some((
                row.engine.clone(),
                speed_of(&group.job, &speed(&figures, with_disturbed)).value,
            ))
        };
        group.rows.iter().filter_map(of_row).collect::<Vec<_>>()
    });
    let engine = rows.max_by(|one, other| one.1.total_cmp(&other.1))?;
    Some(Choice {
        operation: place.op.name().to_owned(),
        bits: place.bits,
        symbols: place.symbols,
        threads: best.threads,
        batch: best.batch,
        kernel: best.kernel.clone(),
        per_second: best.speed.value,
        unit: best.unit.to_owned(),
        call_ns: best.call_ns,
        engine_times: engine.1 / best.speed.value,
        engine: engine.0,
    })
}
