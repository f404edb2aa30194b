//! The gain from threads, count by count: speed-up, efficiency, and the laws that are fitted to them.

use rsalab_measure::{
    Estimate,
    stats::{
        Bootstrap,
        scaling::{self, Speedup},
    },
};
use serde::{Deserialize, Serialize};

use super::{
    figure::{Axis, Figure, Layout, Mark, Scale, Series},
    figures::families_over_threads,
    group::{Group, Row},
    names::slug,
};
use crate::{
    cpus::Cpus,
    distinct::distinct,
    number,
    plan::{Dimension, title_without},
};

/// One job over its thread counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Scaling {
    /// Fit for an anchor.
    pub id: String,
    /// The job in a few words.
    pub title: String,
    /// One for each engine that was measured on one thread and on several.
    pub engines: Vec<EngineScaling>,
}

/// One engine over the thread counts.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EngineScaling {
    /// The engine's selector.
    pub engine: String,
    /// Each count beyond one, ascending.
    pub counts: Vec<Count>,
    /// The share of the work that is done in turn, by Amdahl's law.
    pub serial: Option<Estimate>,
    /// Contention, by the Universal Scalability Law.
    pub contention: Option<Estimate>,
    /// Coherence, by the Universal Scalability Law.
    pub coherence: Option<Estimate>,
    /// The threads beyond which more are slower, by that law.
    pub most_threads: Option<f64>,
    /// Why a law was not fitted; none where both were.
    pub reason: Option<String>,
}

/// One number of threads.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Count {
    /// Threads.
    pub threads: usize,
    /// Times as fast as one.
    pub speedup: Estimate,
    /// The speed-up of each thread: 1 where each does as much as one alone.
    pub efficiency: Estimate,
    /// Why the laws are not fitted to it; none where they are.
    pub left_out: Option<String>,
}

/// The scaling of every job that was measured on one thread and on several.
pub(super) fn of(groups: &[Group], cpus: Option<Cpus>) -> Vec<Scaling> {
    let families = families_over_threads(groups);
    let scalings = families.iter().map(|family| Scaling::of(family, cpus));
    scalings.filter(|scaling| !scaling.engines.is_empty()).collect()
}

impl Scaling {
    fn of(family: &[&Group], cpus: Option<Cpus>) -> Scaling {
        let job = &family[0].job;
        let rows = family.iter().flat_map(|group| &group.rows);
        let engines = distinct(rows.map(|row| row.engine.as_str()));
        Scaling {
            id: format!(
                "scaling-{}",
                slug(&rsalab_engines::Job {
                    threads: 1,
                    ..job.clone()
                })
            ),
            title: title_without(job, &[Dimension::Threads]),
            engines: engines
                .into_iter()
                .filter_map(|engine| EngineScaling::of(engine, family, cpus))
                .collect(),
        }
    }

    /// The speed-up over the number of threads, next to what as many times one thread would be.
    pub(super) fn figure(&self, confidence: f64, cpus: Option<Cpus>) -> Option<Figure> {
        let counts = || self.engines.iter().flat_map(|engine| &engine.counts);
        let most = counts().map(|count| count.threads).max()? as f64;
        // No more than the CPUs run at once can be as many times as fast.
        let limit = cpus.map_or(most, |cpus| cpus.quota.unwrap_or(cpus.logical as f64));
        let end = most.min(limit).max(1.0);
        let exact = |x: f64| super::figure::Point {
            x,
            y: x,
            ..super::figure::Point::default()
        };
        let ideal = Series {
            name: "as many times one".to_owned(),
            points: vec![exact(1.0), exact(end)],
            is_published: true,
        };
        let line = |engine: &EngineScaling| {
            let points = engine.counts.iter().map(|count| super::figure::Point {
                note: count.left_out.clone(),
                ..super::figure::Point::at(count.threads as f64, &count.speedup)
            });
            Series {
                name: engine.engine.clone(),
                points: [super::figure::Point {
                    x: 1.0,
                    y: 1.0,
                    ..super::figure::Point::default()
                }]
                .into_iter()
                .chain(points)
                .collect(),
                is_published: false,
            }
        };
        let mut ticks: Vec<f64> = counts().map(|count| count.threads as f64).chain([1.0]).collect();
        ticks.sort_by(f64::total_cmp);
        ticks.dedup();
        Some(Figure {
            id: format!("{}-speedup", self.id),
            title: format!("{}: speed-up over threads", self.title),
            description: format!(
                "Speed on several threads divided by that on one, of each engine. Whiskers show intervals of {}.",
                number::percent(confidence)
            ),
            x: Axis::new("Threads", None, Scale::Linear { ticks }),
            y: Axis::new("Speed-up", None, Scale::EVEN),
            series: self.engines.iter().map(line).chain([ideal]).collect(),
            remark: None,
            references: Vec::new(),
            marks: cpus.map_or(Vec::new(), |cpus| marks(cpus, most)),
            layout: Layout::Usual,
        })
    }
}

/// Where more threads meet a limit of the machine.
fn marks(cpus: Cpus, most: f64) -> Vec<Mark> {
    let cores = (cpus.cores as f64, number::counted(cpus.cores, "core"));
    let quota = cpus.quota.map(|quota| (quota, format!("quota of {quota:.2}")));
    let logical =
        (cpus.has_smt() && cpus.quota.is_none()).then(|| (cpus.logical as f64, "hardware threads".to_owned()));
    let all = match quota {
        Some(quota) => vec![quota],
        None => [Some(cores), logical].into_iter().flatten().collect(),
    };
    all.into_iter()
        .filter(|(x, _)| (1.0..=most).contains(x))
        .map(|(x, label)| Mark { x, label })
        .collect()
}

impl EngineScaling {
    /// The laws in words: `own: Amdahl's law with 2.1 % (1.9 to 2.3) of the work in turn`.
    pub(super) fn laws(&self) -> String {
        let percent = |it: &Estimate| {
            let [value, low, high] = [it.value, it.low, it.high].map(|share| number::significant(100.0 * share));
            format!("{value} % ({low} to {high})")
        };
        let amdahl = self
            .serial
            .map(|serial| format!("Amdahl's law with {} of the work in turn", percent(&serial)));
        let universal = self.contention.zip(self.coherence).map(|(contention, coherence)| {
            let most = match self.most_threads {
                Some(most) if most < 1e6 => format!(", slower beyond {} threads", number::significant(most)),
                _ => String::new(),
            };
            format!(
                "the Universal Scalability Law with a contention of {} and a coherence of {}{most}",
                percent(&contention),
                percent(&coherence)
            )
        });
        let parts: Vec<String> = [amdahl, universal, self.reason.clone()].into_iter().flatten().collect();
        format!("{}: {}.", self.engine, parts.join("; "))
    }

    fn of(engine: &str, family: &[&Group], cpus: Option<Cpus>) -> Option<EngineScaling> {
        let row = |group: &Group| -> Option<Row> { group.rows.iter().find(|row| row.engine == engine).cloned() };
        let single = family.iter().find(|group| group.job.threads == 1)?;
        let one = row(single)?;
        let speed = one.figures?.ops_per_s;
        let mut counts: Vec<Count> = family
            .iter()
            .filter(|group| group.job.threads > 1)
            .filter_map(|group| {
                let several = row(group)?;
                let speedup = several.speedup.or(Some(several.figures?.ops_per_s.over(&speed)))?;
                Some(Count {
                    threads: group.job.threads,
                    speedup,
                    efficiency: speedup.scaled(1.0 / group.job.threads as f64),
                    left_out: left_out(group.job.threads, &one, &several, cpus)
                        .or_else(|| (speedup.confidence <= 0.0).then(|| "without an interval".to_owned())),
                })
            })
            .collect();
        counts.sort_by_key(|count| count.threads);
        if counts.is_empty() {
            return None;
        }
        let fitting: Vec<Speedup> = counts
            .iter()
            .filter(|count| count.left_out.is_none())
            .map(|count| Speedup {
                threads: count.threads,
                times: count.speedup,
                one: speed,
            })
            .collect();
        let bootstrap = Bootstrap {
            confidence: single.confidence,
            ..Bootstrap::default()
        };
        let universal = scaling::universal(&fitting, &bootstrap);
        let reason = match fitting.len() {
            0 => Some("no count of threads to fit a law to".to_owned()),
            1 => Some("the Universal Scalability Law takes two counts beyond one".to_owned()),
            _ => None,
        };
        Some(EngineScaling {
            engine: engine.to_owned(),
            counts,
            serial: scaling::amdahl(&fitting, &bootstrap),
            contention: universal.map(|fit| fit.contention),
            coherence: universal.map(|fit| fit.coherence),
            most_threads: universal.and_then(|fit| fit.most_threads()),
            reason,
        })
    }
}

/// Why a count says nothing of the laws, which are about as many processors as threads.
fn left_out(threads: usize, one: &Row, several: &Row, cpus: Option<Cpus>) -> Option<String> {
    let mut disturbed = [one, several].into_iter().filter_map(|row| row.disturbance.as_ref());
    if disturbed.any(|disturbance| disturbance.is_grave()) {
        return Some("disturbed".to_owned());
    }
    let cpus = cpus?;
    if cpus.throttles(threads) || threads > cpus.logical {
        return Some(format!("more than {}", cpus.words()));
    }
    None
}
