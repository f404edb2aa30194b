//! Plans that need no file.

use std::iter;

use rsalab_engines::{Op, registry::closest};

use super::{
    Article, Engines, Grid, Host, Measure, MeasureChange, Plan, PlanError, Scale, Threads,
};

/// A plan with a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Everything once at 2048 bits, within three minutes.
    Quick,
    /// The study of an article, as published.
    Article(Article),
    /// Every article in short form, in one report.
    Papers,
    /// Every peer at every size.
    Peers,
    /// A few seconds that touch every part: for tests, not for figures.
    Smoke,
}

impl Preset {
    /// Every preset, the default first.
    pub fn all() -> impl Iterator<Item = Preset> {
        let articles = Article::all().map(Preset::Article);
        let others = [Preset::Papers, Preset::Peers, Preset::Smoke];
        iter::once(Preset::Quick).chain(articles).chain(others)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Quick => "quick",
            Preset::Article(article) => article.name(),
            Preset::Papers => "papers",
            Preset::Peers => "peers",
            Preset::Smoke => "smoke",
        }
    }

    /// One line about it.
    pub fn about(self) -> String {
        let about = match self {
            Preset::Quick => {
                "every operation at 2048 bits on every engine, text over threads; 3 minutes"
            }
            Preset::Article(article) => return article.about(),
            Preset::Papers => "every article in short form, one report; half an hour on 2 cores",
            Preset::Peers => {
                "private, public, key generation and more at 1024 to 8192 bits on every engine but the textbook's; 45 minutes"
            }
            Preset::Smoke => "every part once, in a few seconds; for tests, its figures are rough",
        };
        about.to_owned()
    }

    /// The preset of that name; the error offers the closest one.
    pub fn named(name: &str) -> Result<Preset, PlanError> {
        Preset::all()
            .find(|preset| preset.name() == name)
            .ok_or_else(|| {
                let names: Vec<&str> = Preset::all().map(Preset::name).collect();
                let hint = match closest(name, names.iter().copied()) {
                    Some(near) => format!("did you mean '{near}'?"),
                    None => format!("the presets are {}", names.join(", ")),
                };
                PlanError::new(format!("there is no preset and no file '{name}'; {hint}"))
            })
    }

    /// The plan on this machine.
    pub fn plan(self, host: &Host) -> Plan {
        match self {
            Preset::Quick => quick(host),
            Preset::Article(article) => article.plan(),
            Preset::Papers => papers(),
            Preset::Peers => peers(host),
            Preset::Smoke => smoke(),
        }
    }
}

/// Every article, cell by cell, with the repeats cut.
fn papers() -> Plan {
    Plan {
        title: "The four articles done again, in short form".to_owned(),
        article: None,
        nice: 0,
        seed: None,
        measure: Measure::default(),
        grids: Article::all()
            .flat_map(|article| article.grids(Scale::Short))
            .collect(),
    }
}

/// One core, sixteen items at a time, so that engines which do several side by side can; keys one at a time.
fn peers(host: &Host) -> Plan {
    const BITS: [usize; 5] = [1024, 2048, 3072, 4096, 8192];
    /// Seconds for the keys of each size: those of 8192 bits take up to a minute each.
    const KEYGEN_S: [f64; 5] = [8.0, 15.0, 25.0, 35.0, 50.0];
    // The textbook's exponentiation is no peer, and takes minutes at the largest size. 'gpu' is no peer, and no one item.
    let engines = || {
        let peers = host
            .known
            .iter()
            .filter(|name| !["textbook", "gpu"].contains(&name.as_str()));
        Engines::Named(peers.cloned().collect())
    };
    let many = |operations: &[Op], bits: &[usize]| Grid {
        engines: engines(),
        batch: vec![16],
        ..grid(operations, bits)
    };
    let keygen = |(bits, budget_s): (usize, f64)| Grid {
        engines: engines(),
        measure: MeasureChange {
            budget_s: Some(budget_s),
            min_blocks: (bits > 4096).then_some(3),
            max_blocks: Some(1_000),
            discard_ms: Some(0),
            ..MeasureChange::default()
        },
        ..grid(&[Op::Keygen], &[bits])
    };
    let one_at_a_time = |operations: &[Op], bits: &[usize]| Grid {
        engines: engines(),
        measure: MeasureChange {
            discard_ms: Some(0),
            ..MeasureChange::default()
        },
        ..grid(operations, bits)
    };
    let mut grids = vec![
        many(&[Op::Private, Op::Public], &BITS),
        many(&[Op::Sign, Op::Verify], &BITS[..4]),
        one_at_a_time(&[Op::PrimeSearch], &BITS[..4]),
    ];
    grids.extend(BITS.into_iter().zip(KEYGEN_S).map(keygen));
    Plan {
        title: "Peers: every library compared with every other".to_owned(),
        article: None,
        nice: 0,
        seed: None,
        measure: Measure {
            precision: 0.005,
            budget_s: 3.0,
            ..Measure::default()
        },
        grids,
    }
}

/// Seconds of measuring in `quick`; preparing, verifying and starting workers take the rest of its three minutes.
const QUICK_MEASURING_S: f64 = 110.0;

fn quick(host: &Host) -> Plan {
    // Every count where there are few CPUs, some where there are many: the time is the same.
    let threads = if host.logical_cpus <= 4 {
        Threads::Each
    } else {
        Threads::Doubling
    };
    let text_groups = 2 * threads.counts(host.logical_cpus).len();
    // Key generation is a matter of luck and gets three shares; its neighbours one each.
    let shares = 3 + 2 + text_groups;
    let share_s = QUICK_MEASURING_S / (shares * host.present.len().max(1)) as f64;
    let bits = vec![2048];
    Plan {
        title: "Quick: the operations of RSA at 2048 bits, and text over threads".to_owned(),
        article: None,
        nice: 0,
        seed: None,
        measure: Measure {
            precision: 0.005,
            budget_s: share_s.min(5.0),
            ..Measure::default()
        },
        grids: vec![
            grid(&[Op::Private, Op::Public], &bits),
            Grid {
                // Its calls are long compared with the warm-up, and a key thrown away is time lost.
                measure: MeasureChange {
                    budget_s: Some((3.0 * share_s).min(20.0)),
                    discard_ms: Some(0),
                    ..MeasureChange::default()
                },
                ..grid(&[Op::Keygen], &bits)
            },
            Grid {
                threads,
                symbols: vec![10_000],
                ..grid(&[Op::TextEncrypt, Op::TextDecrypt], &bits)
            },
        ],
    }
}

fn smoke() -> Plan {
    let bits = vec![512];
    Plan {
        title: "Smoke: every part once".to_owned(),
        article: None,
        nice: 0,
        seed: None,
        measure: Measure {
            precision: 0.0,
            budget_s: 0.05,
            min_blocks: 2,
            max_blocks: 2,
            block_ms: 10,
            discard_ms: 1,
            ..Measure::default()
        },
        grids: vec![
            grid(&[Op::Private, Op::Public, Op::Keygen], &bits),
            Grid {
                threads: Threads::These(vec![1, 2]),
                symbols: vec![500],
                ..grid(&[Op::TextEncrypt, Op::TextDecrypt], &bits)
            },
        ],
    }
}

fn grid(operations: &[Op], bits: &[usize]) -> Grid {
    Grid {
        operations: operations.to_vec(),
        bits: bits.to_vec(),
        ..Grid::default()
    }
}
