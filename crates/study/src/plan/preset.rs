//! Plans that need no file.

use std::iter;

use rsalab_engines::registry::closest;

use super::{Article, Engines, Host, Plan, PlanError, Scale, Threads, host::BY_NAME};

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
    /// Keys imported, and keys of more primes.
    Loading,
    /// Signatures of messages and of digests, and batches under several keys.
    Signing,
    /// TLS handshakes under several engines' signatures.
    Handshake,
    /// A few seconds that touch every part: for tests, not for figures.
    Smoke,
}

impl Preset {
    /// Every preset, the default first.
    pub fn all() -> impl Iterator<Item = Preset> {
        let articles = Article::all().map(Preset::Article);
        let others = [
            Preset::Papers,
            Preset::Peers,
            Preset::Loading,
            Preset::Signing,
            Preset::Handshake,
            Preset::Smoke,
        ];
        iter::once(Preset::Quick).chain(articles).chain(others)
    }

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Preset::Quick => "quick",
            Preset::Article(article) => article.name(),
            Preset::Papers => "papers",
            Preset::Peers => "peers",
            Preset::Loading => "loading",
            Preset::Signing => "signing",
            Preset::Handshake => "handshake",
            Preset::Smoke => "smoke",
        }
    }

    /// One line about it.
    pub fn about(self) -> String {
        let about = match self {
            Preset::Quick => "every operation at 2048 bits on every engine, text over threads; 3 minutes",
            Preset::Article(article) => return article.about(),
            Preset::Papers => "every article in short form, one report; half an hour on 2 cores",
            Preset::Peers => {
                "private, public, key generation and more at 1024 to 8192 bits on every engine but the textbook's; 45 minutes"
            }
            Preset::Loading => {
                "private keys imported with and without tests of primes, public keys with their first verification, keys of more primes; 4 minutes"
            }
            Preset::Signing => {
                "messages signed with the hash in the time and digests without, batches under several keys; 3 minutes"
            }
            Preset::Handshake => {
                "full and resumed TLS handshakes of rustls, signed by own, ring and AWS-LC, and the server's part of them; 4 minutes"
            }
            Preset::Smoke => "every part once, in a few seconds; for tests, its figures are rough",
        };
        about.to_owned()
    }

    /// The preset of that name; the error offers the closest one.
    pub fn named(name: &str) -> Result<Preset, PlanError> {
        Preset::all().find(|preset| preset.name() == name).ok_or_else(|| {
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
            Preset::Loading => written(include_str!("../../presets/loading.toml")),
            Preset::Signing => written(include_str!("../../presets/signing.toml")),
            Preset::Handshake => written(include_str!("../../presets/handshake.toml")),
            Preset::Smoke => written(include_str!("../../presets/smoke.toml")),
        }
    }
}

/// Every article, cell by cell, with the repeats cut.
fn papers() -> Plan {
    Plan {
        title: "The four articles done again, in short form".to_owned(),
        grids: Article::all().flat_map(|article| article.grids(Scale::Short)).collect(),
        ..Plan::default()
    }
}

/// Every engine but three: the textbook's exponentiation is no peer, and takes minutes at the largest size; 'gpu' is no
/// peer, and no one item; 'rustls' does handshakes alone.
fn peers(host: &Host) -> Plan {
    let is_peer = |name: &&String| **name != "textbook" && !BY_NAME.contains(&name.as_str());
    let peers: Vec<String> = host.known.iter().filter(is_peer).cloned().collect();
    let mut plan = written(include_str!("../../presets/peers.toml"));
    for grid in &mut plan.grids {
        grid.engines = Engines::Named(peers.clone());
    }
    plan
}

fn written(plan: &str) -> Plan {
    toml::from_str(plan).expect("the file is a part of this program")
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
    let mut plan = written(include_str!("../../presets/quick.toml"));
    plan.measure.budget_s = share_s.min(5.0);
    let [_, keygen, texts] = &mut plan.grids[..] else {
        unreachable!("the file has three grids");
    };
    keygen.measure.budget_s = Some((3.0 * share_s).min(20.0));
    texts.threads = threads;
    plan
}
