//! Presets, and what is laid over their plans: other key sizes, repeats, a text of one's own.

use rsalab_engines::{Mode, Op, registry};
use rsalab_study::plan::{Engines, Host, Plan, Preset};

use crate::plan::host;

/// On any number of CPUs, each job once.
#[test]
fn every_preset_unfolds_on_any_machine() {
    let known: Vec<String> = registry::engines().iter().map(|entry| entry.name.to_string()).collect();
    for logical_cpus in [1, 2, 3, 4, 64] {
        let host = Host {
            present: known.clone(),
            known: known.clone(),
            logical_cpus,
        };
        for preset in Preset::all() {
            let plan = preset.plan(&host);
            let groups = plan.groups(&host);
            assert!(
                groups.is_ok_and(|groups| !groups.is_empty()),
                "{} on {logical_cpus}",
                preset.name()
            );
            assert_eq!(Plan::parse(&plan.to_toml(), &host).unwrap(), plan, "{}", preset.name());
        }
    }
}

#[test]
fn a_preset_is_found_by_name() {
    assert_eq!(Preset::named("quick").unwrap(), Preset::Quick);
    assert!(
        Preset::named("quik")
            .unwrap_err()
            .to_string()
            .contains("did you mean 'quick'?")
    );
    assert!(
        Preset::named("x")
            .unwrap_err()
            .to_string()
            .contains("the presets are quick, ")
    );
}

#[test]
fn quick_measures_for_less_than_two_minutes_whatever_the_machine() {
    for (engines, logical_cpus) in [(1, 1), (3, 2), (5, 8), (9, 256)] {
        let present = (0..engines).map(|number| format!("engine{number}")).collect();
        let host = Host {
            known: Vec::new(),
            present,
            logical_cpus,
        };
        let groups = Preset::Quick.plan(&host).groups(&host).unwrap();
        let measuring_s: f64 = groups
            .iter()
            .map(|group| group.measure.budget_s * group.cells.len() as f64)
            .sum();
        assert!(
            measuring_s <= 110.001,
            "{engines} engines, {logical_cpus} CPUs: {measuring_s}"
        );
    }
}

/// Other sizes than the plan's are measured as the next larger one that was planned, and messages keep their number.
#[test]
fn an_articles_plan_takes_other_key_sizes() {
    let host = Host {
        known: ["own", "textbook", "cryptopp", "gpu"].map(str::to_owned).to_vec(),
        ..host()
    };
    let plan = Preset::named("cpu-gpu").unwrap().plan(&host);
    let groups = |bits: &[usize]| plan.clone().with_bits(bits).groups(&host).unwrap();
    let own = groups(&[1280]);
    assert!(own.iter().all(|group| group.job.bits == 1280));
    let of_texts = |messages: usize| {
        let texts = own.iter().map(|group| &group.job);
        let mut texts = texts.filter(|job| job.text_blocks() == messages);
        texts.all(|job| job.symbols == messages * 159)
    };
    assert!([50, 100, 600].into_iter().all(of_texts));
    let portions = own.iter().find(|group| group.job.text_blocks() == 2);
    assert!(portions.is_some_and(|group| group.job.block_symbols < 159));
    let mut jobs: Vec<String> = own.iter().map(|group| format!("{:?}", group.job)).collect();
    let all = jobs.len();
    jobs.sort();
    jobs.dedup();
    assert_eq!(jobs.len(), all, "no job twice");
    // Sizes of the plan are kept as they are.
    let kept = groups(&[1024, 2048]);
    assert!(kept.iter().all(|group| [1024, 2048].contains(&group.job.bits)));
    assert!(kept.len() < plan.groups(&host).unwrap().len());
}

/// A preset on our own engine alone.
fn of_own(preset: &str) -> Plan {
    let mut plan = Preset::named(preset).unwrap().plan(&host());
    for grid in &mut plan.grids {
        grid.engines = Engines::named(&["own"]);
    }
    plan
}

#[test]
fn repeats_of_ones_own_count_pairs_and_not_batches() {
    let host = host();
    let plan = |repeats| of_own("prime-cycles").with_repeats(repeats);
    for repeats in [1, 7, 500, 10_000, 1_000_000] {
        for group in plan(repeats).groups(&host).unwrap() {
            let (job, calls) = (&group.job, group.measure.repeats.unwrap());
            let counted = match (job.op, job.mode) {
                (Op::PrimePair, Mode::Throughput) => calls * (job.threads * job.batch) as u64,
                _ => calls,
            };
            let rounds = group.measure.planned_rounds().unwrap();
            let least = calls.min(10) as usize;
            assert!(
                (least..=group.measure.max_blocks).contains(&rounds),
                "{repeats}: {rounds} of {job:?}"
            );
            let most = repeats + 2 * job.batch as u64;
            assert!((repeats..=most).contains(&counted), "{repeats}: {counted} of {job:?}");
        }
    }
}

#[test]
fn a_text_of_ones_own_is_a_part_of_the_plan() {
    let host = host();
    let text = "Grüße\n".to_owned();
    let plan = of_own("text-threads");
    let whole = plan.clone().with_text(text.clone(), None);
    assert_eq!(Plan::parse(&whole.to_toml(), &host).unwrap(), whole);
    let symbols: Vec<usize> = whole
        .groups(&host)
        .unwrap()
        .iter()
        .map(|group| group.job.symbols)
        .collect();
    assert!(symbols.iter().all(|symbols| *symbols == 8), "{symbols:?}");
    let refusal = |plan: Plan| plan.check(&host).expect_err("refused").to_string();
    let beyond = refusal(plan.clone().with_text(text.clone(), Some(&[3, 9])));
    assert!(
        beyond.contains("the text has 8 bytes, and a cell takes 9 of it"),
        "{beyond}"
    );
    let empty = refusal(plan.with_text(String::new(), Some(&[1])));
    assert!(empty.contains("0 bytes"), "{empty}");
    let useless = Plan {
        text: Some(text),
        ..of_own("keygen-libraries")
    };
    assert!(refusal(useless).contains("no cell takes a text"));
    // Sizes that cannot be are refused before anything is computed of them.
    for sizes in ["bits = [1024]\nportions = 0", "bits = [0]\nmessages = [3]"] {
        let plan = "title = \"T\"\ntext = \"abc\"\n[[grid]]\noperations = [\"text_encrypt\"]\nengines = [\"own\"]\n";
        let refused = Plan::parse(&format!("{plan}{sizes}\n"), &host)
            .expect_err("refused")
            .to_string();
        assert!(!refused.contains("takes"), "{refused}");
    }
}
