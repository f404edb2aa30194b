//! Engines and operations relative to each other.

use rsalab_engines::{Exponent, Job, Op};

use super::{
    entry::Entry,
    known, peak,
    refusal::{Check, Refusals},
};
use crate::number;

/// Private operations beside a reference, and of each engine twice the bits and the public operation.
pub(super) fn ratios(entry: &Entry, refusals: &mut Refusals) {
    let is_private = |job: &Job| {
        matches!(job.op, Op::Private | Op::Sign)
            && job.threads == 1
            && job.keys == 1
            && job.primes == 2
            && job.exponent == Exponent::F4
            && known::BITS.contains(&job.bits)
    };
    let mut has_reference = false;
    for group in entry.groups.iter().filter(|group| is_private(&group.job)) {
        let find = |engine: &str| group.cells.iter().find(|cell| cell.engine == engine);
        let Some(reference) = known::REFERENCES.into_iter().find_map(find) else {
            continue;
        };
        let Some(of_reference) = reference.speed(&group.job) else {
            continue;
        };
        has_reference |= group.cells.len() > 1;
        for (engine, low, high) in known::PRIVATE {
            let Some(speed) = find(engine).and_then(|cell| cell.speed(&group.job)) else {
                continue;
            };
            let ratio = speed / of_reference;
            refusals.unless((low..=high).contains(&ratio), Check::Ratios, || {
                format!(
                    "{}: {engine} is {} times as fast as {}; {low} to {high} times are known",
                    crate::plan::title(&group.job),
                    number::significant(ratio),
                    reference.engine
                )
            });
        }
    }
    refusals.unless(has_reference, Check::Ratios, || {
        format!(
            "no private operation or signature of {} to {} bits on one thread was measured beside {}: nothing here can \
             be compared with what is known",
            known::BITS.start(),
            known::BITS.end(),
            number::listed(&known::REFERENCES)
        )
    });
    of_sizes(entry, refusals);
}

/// Twice the bits, and the public operation, of one engine.
fn of_sizes(entry: &Entry, refusals: &mut Refusals) {
    let find = |job: &Job, engine: &str| {
        let group = entry.groups.iter().find(|group| group.job == *job)?;
        let cell = group.cells.iter().find(|cell| cell.engine == engine)?;
        cell.speed(&group.job)
    };
    for group in entry.groups.iter().filter(|group| group.job.op == Op::Private) {
        let job = &group.job;
        let doubled = Job {
            bits: 2 * job.bits,
            ..job.clone()
        };
        let public = Job {
            op: Op::Public,
            ..job.clone()
        };
        for cell in group.cells.iter().filter(|cell| peak::is_on_cpu(&cell.engine)) {
            let Some(speed) = cell.speed(&group.job) else {
                continue;
            };
            let (low, high) = known::DOUBLED;
            let ratio = find(&doubled, &cell.engine).map(|other| other / speed);
            let holds = ratio.is_none_or(|ratio| job.bits < 1024 || (low..=high).contains(&ratio));
            refusals.unless(holds, Check::Ratios, || {
                format!(
                    "{}: at twice the bits it is {} times as fast; {low} to {high} times are known",
                    cell.title(&group.job),
                    number::significant(ratio.unwrap_or_default())
                )
            });
            let ratio = find(&public, &cell.engine).map(|other| other / speed);
            let holds = ratio.is_none_or(|ratio| job.exponent != Exponent::F4 || ratio >= known::PUBLIC);
            refusals.unless(holds, Check::Ratios, || {
                format!(
                    "{}: its public operation is {} times as fast; {} times at least are known",
                    cell.title(&group.job),
                    number::significant(ratio.unwrap_or_default()),
                    known::PUBLIC
                )
            });
        }
    }
}
