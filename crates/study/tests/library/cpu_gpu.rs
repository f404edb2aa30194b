//! Article (d) on planted data: what is planted decides what becomes of its claims.

use std::{collections::BTreeMap, path::Path};

use rsalab_engines::{Exponent, Job, Op};
use rsalab_study::{
    articles::{self, Article, Scale},
    plan::{Host, Plan, Preset},
    report::{self, Review, Verdict},
};

use crate::support::{Planted, beginning, block, machine};

use Verdict::{DoesNotHold as No, Holds as Yes, NoSignificantDifference as Equal, NotMeasurableHere as Unmeasured};

/// Nanoseconds of a job on an engine, or why it has none.
type Law = fn(engine: &str, job: &Job) -> Result<f64, &'static str>;

const NO_FORM: &str = "'public' has no form 'halves'; it has plain";
const NO_GPU: &str = "no device, because NVIDIA's driver is not installed";
const GPU: &str = "gpu:article";

fn article() -> Article {
    Article::named("cpu-gpu").unwrap()
}

fn host(cores: usize) -> Host {
    let names = ["own", "textbook", "cryptopp", "gpu"].map(str::to_owned);
    Host {
        present: names[..3].to_vec(),
        known: names.to_vec(),
        logical_cpus: cores,
    }
}

fn study(cores: usize, directory: &Path) -> Planted {
    let host = host(cores);
    let plan = Preset::named("cpu-gpu").unwrap().plan(&host).to_toml();
    Planted::on(&machine(cores, 1), directory, &plan, &host)
}

/// Gives every cell what the law says: six blocks, each a little off it.
fn plant(planted: &mut Planted, law: Law) {
    plant_by_kernel(planted, "portable", law);
}

fn plant_by_kernel(planted: &mut Planted, kernel: &str, law: Law) {
    for group in planted.groups() {
        for (place, cell) in group.cells.iter().enumerate() {
            match law(&cell.engine, &group.job) {
                Err(reason) => {
                    let store = planted.study.store_mut();
                    store.refuse_cell(cell.id, reason).unwrap();
                }
                Ok(ns) => {
                    let name = cell.engine.split(':').next().unwrap();
                    let mut beginning = beginning(name);
                    kernel.clone_into(&mut beginning.readiness.kernel);
                    planted.begin(cell, &beginning);
                    for round in 0..6 {
                        let off = 0.996 + 0.002 * ((round + place) % 5) as f64;
                        planted.add(&group, place, round, block([(ns * off) as u64; 2]));
                    }
                    let store = planted.study.store_mut();
                    store.complete_cell(cell.id, &[]).unwrap();
                }
            }
        }
    }
}

fn review_of(planted: &Planted) -> Review {
    let mut articles = articles::report(planted.study.store()).unwrap().articles;
    assert_eq!(articles.len(), 1);
    articles.remove(0)
}

/// The verdicts of a claim, by engine.
fn verdicts(review: &Review, claim: &str) -> BTreeMap<String, Verdict> {
    let claim = review.claims.iter().find(|one| one.id == claim).unwrap();
    let verdicts = claim.verdicts.iter();
    verdicts.map(|one| (one.engine.clone(), one.verdict)).collect()
}

fn expect(review: &Review, claim: &str, expected: &[(&str, Verdict)]) {
    let expected = expected
        .iter()
        .map(|(engine, verdict)| ((*engine).to_owned(), *verdict))
        .collect();
    assert_eq!(verdicts(review, claim), expected, "{claim}");
}

/// Blocks of a power: 1 for a message, as many as there are for a text.
fn messages(job: &Job) -> f64 {
    job.text_blocks().max(1) as f64
}

/// Nanoseconds of the textbook: quadratic in the modulus for every bit of the exponent.
fn textbook_ns(job: &Job) -> f64 {
    let bits = job.bits as f64;
    let is_public = matches!(job.op, Op::Public | Op::TextEncrypt);
    let squarings = match (is_public, job.exponent) {
        (true, Exponent::Fixed(_)) => 17.0,
        _ => bits,
    };
    squarings * bits * bits * 1e-3
}

/// Returns whether a text is one message in portions.
fn is_portioned(job: &Job) -> bool {
    job.op.is_text() && job.text_blocks() == 2
}

/// How many times as fast portions are: from 0.9 to 6.1 in decryption, as the article prints of its threads.
fn gain_of_portions(bits: usize) -> f64 {
    0.9 + 5.2 * (bits as f64 - 768.0) / 7424.0
}

/// A machine, and a GPU, as the article has them.
fn as_published(engine: &str, job: &Job) -> Result<f64, &'static str> {
    let is_decryption = matches!(job.op, Op::Private | Op::TextDecrypt);
    let one = textbook_ns(job);
    let all = one * messages(job);
    Ok(match engine {
        "textbook" if is_portioned(job) && is_decryption => one / gain_of_portions(job.bits),
        "textbook" if is_portioned(job) => one / 1.1,
        // The loop costs, and threads take free resources.
        "textbook" if job.op.is_text() => all * 1.5 / (job.threads as f64 * 0.9),
        "textbook" => all,
        "textbook:crt" => all / 3.0,
        "textbook:halves" if is_decryption => all / 6.1,
        "textbook:halves" => return Err(NO_FORM),
        // It grows with the size, and many messages hide what it waits for. 1,890 decryptions a second.
        name if name.starts_with("gpu") && job.op.is_text() => match is_decryption {
            true if job.bits == 1024 => messages(job) / 1890.0 * 1e9,
            true => messages(job) / 260.0 * 1e9,
            false => one * messages(job) / 2.0,
        },
        name if name.starts_with("gpu") && is_decryption => {
            all / (2.0 + 21.5 * (job.bits as f64 - 768.0) / 7424.0) / 1.02
        }
        name if name.starts_with("gpu") => all / 1.3,
        "cryptopp" => all,
        "cryptopp:plain" | "own:plain" => all / 10.0,
        _ => all / 40.0,
    })
}

#[test]
fn a_machine_and_a_gpu_as_the_article_has_them_bear_the_claims_out() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(8, directory.path());
    // Its GPU beats 600 sequential decryptions 14 times only where they take as long as in the article.
    plant(&mut planted, |engine, job| {
        let ns = as_published(engine, job)?;
        let is_slow = !engine.starts_with("gpu") && job.bits <= 2048;
        Ok(if is_slow { ns * 5.0 } else { ns })
    });
    let review = review_of(&planted);
    let every = [("textbook", Yes), ("cryptopp", Yes), ("own", Yes)];
    expect(&review, "d-claim-i", &[("textbook", Yes)]);
    expect(&review, "d-claim-ii", &[(GPU, Yes)]);
    expect(&review, "d-claim-iii", &every);
    expect(&review, "d-claim-iv", &[("textbook", Yes)]);
    expect(&review, "d-claim-v", &[(GPU, Yes)]);
    expect(&review, "d-claim-vi", &[(GPU, Yes)]);
    expect(&review, "d-claim-vii", &[("textbook", Yes), (GPU, Yes)]);
    expect(&review, "d-claim-viii", &[("textbook", Yes)]);
    expect(&review, "d-claim-ix", &[(GPU, Yes)]);
    expect(&review, "d-claim-x", &[("textbook", Yes), (GPU, Yes)]);
    expect(&review, "d-claim-xi", &[("textbook", Yes)]);
    expect(&review, "d-claim-xii", &[("textbook", Yes)]);
    expect(&review, "d-claim-xiii", &[(GPU, Yes)]);
    expect(&review, "d-claim-xiv", &[(GPU, Yes)]);
    expect(&review, "d-claim-xv", &[(GPU, Yes)]);

    // Each quotient of Tables 5 and 6 is what was planted.
    let table = |id: &str| review.tables.iter().find(|table| table.id == id).unwrap();
    for id in ["d-tab5", "d-tab6"] {
        for row in &table(id).rows {
            let [_, s2, s1_decryption, _, of_thread, of_crt] = &row.cells[..] else {
                panic!("{row:?}");
            };
            let s1 = gain_of_portions(row.label.parse().unwrap());
            assert!(s1_decryption.ours.unwrap().covers(s1), "{row:?}");
            assert!(of_thread.ours.unwrap().covers(6.1 / 3.0), "{row:?}");
            assert!(of_crt.ours.unwrap().covers(3.0), "{row:?}");
            assert!(s2.ours.is_some() && s2.published.is_some(), "{row:?}");
        }
    }
    let crt = &table("d-crt").rows[6].cells[0];
    assert!(crt.ours.unwrap().covers(3.0), "{crt:?}");
    let exponent = &table("d-exponent").rows[6].cells[0];
    assert!(exponent.ours.unwrap().covers(8192.0 / 17.0), "{exponent:?}");
    assert!(table("d-tab6").remarks.iter().any(|remark| remark.contains("0.166")));
    assert!(
        table("d-tab4")
            .remarks
            .iter()
            .any(|remark| remark.contains("10.7 times"))
    );
}

#[test]
fn the_opposite_is_found_too() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(2, directory.path());
    plant(&mut planted, |engine, job| {
        let is_decryption = matches!(job.op, Op::Private | Op::TextDecrypt);
        // Encryption takes longer than decryption, whatever e; a text takes what its messages take; threads do nothing.
        let one = if is_decryption { 1e6 } else { 3e6 };
        let all = one * messages(job);
        match engine {
            "textbook:halves" if !is_decryption => Err(NO_FORM),
            name if name.starts_with("gpu") => Err(NO_GPU),
            "textbook" if is_portioned(job) => Ok(one),
            "cryptopp" => Ok(all / 3.0),
            "own" => Ok(all * 2.0),
            _ => Ok(all),
        }
    });
    let review = review_of(&planted);
    let every = [("textbook", No), ("cryptopp", No), ("own", No)];
    expect(&review, "d-claim-i", &[("textbook", No)]);
    expect(&review, "d-claim-iii", &every);
    expect(&review, "d-claim-iv", &[("textbook", No)]);
    expect(&review, "d-claim-viii", &[("textbook", No)]);
    expect(&review, "d-claim-x", &[("textbook", Unmeasured), (GPU, Unmeasured)]);
    expect(&review, "d-claim-xi", &[("textbook", No)]);
    expect(&review, "d-claim-xii", &[("textbook", Equal)]);
    for claim in ["ii", "v", "vi", "ix", "xiii", "xiv", "xv"] {
        expect(&review, &format!("d-claim-{claim}"), &[(GPU, Unmeasured)]);
    }
    // Every cell of the GPU's columns has a reason.
    for table in review.tables.iter().filter(|table| table.columns.len() > 3) {
        let column = table.columns.iter().position(|column| column.contains("(gpu:article)"));
        for row in &table.rows {
            for (place, cell) in row.cells.iter().enumerate() {
                assert_ne!(cell.ours.is_some(), cell.reason.is_some(), "{cell:?}");
                assert!(Some(place) != column || cell.reason.is_some(), "{cell:?}");
            }
        }
    }
}

/// Kernels on a CPU have figures, which are marked, and decide nothing about a GPU.
#[test]
fn kernels_on_a_cpu_are_marked_and_decide_no_claim() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(8, directory.path());
    plant_by_kernel(&mut planted, "mont32x1-opencl on a CPU", as_published);
    let review = review_of(&planted);
    for claim in ["ii", "v", "vi", "ix", "xiii", "xiv", "xv"] {
        expect(&review, &format!("d-claim-{claim}"), &[(GPU, Unmeasured)]);
    }
    let table = |id: &str| review.tables.iter().find(|table| table.id == id).unwrap();
    for id in ["d-tab1", "d-tab4", "d-tab6", "d-tab8", "d-batches"] {
        let remarks = &table(id).remarks;
        let is_marked = |remark: &String| remark.contains("nothing of how fast a GPU is");
        assert!(remarks.iter().any(is_marked), "{id}: {remarks:?}");
    }
    assert!(table("d-tab4").rows[0].cells[4].ours.is_some());
}

#[test]
fn every_id_has_values_or_a_reason() {
    let directory = tempfile::tempdir().unwrap();
    let mut planted = study(2, directory.path());
    for is_measured in [false, true] {
        if is_measured {
            plant(&mut planted, |engine, job| match engine {
                name if name.starts_with("gpu") => Err(NO_GPU),
                _ => as_published(engine, job),
            });
        }
        report::write(&articles::report(planted.study.store()).unwrap(), directory.path()).unwrap();
        let text = std::fs::read_to_string(directory.path().join("results.json")).unwrap();
        let results: serde_json::Value = serde_json::from_str(&text).unwrap();
        let of_article = &results["articles"][0];
        let mut found = Vec::new();
        for kind in ["tables", "shown", "claims"] {
            for entry in of_article[kind].as_array().unwrap() {
                let id = entry["id"].as_str().unwrap().to_owned();
                let values = match kind {
                    "tables" => {
                        let rows = entry["rows"].as_array().unwrap().iter();
                        let mut cells = rows.flat_map(|row| row["cells"].as_array().unwrap());
                        cells.any(|cell| cell["ours"].is_object())
                    }
                    "shown" => !entry["figures"].as_array().unwrap().is_empty(),
                    _ => {
                        let cases = entry["cases"].as_array().unwrap();
                        assert!(!cases.is_empty(), "{id}");
                        for case in cases {
                            let sentence = case["sentence"].as_str().unwrap();
                            assert!(!sentence.is_empty(), "{id}");
                        }
                        cases.iter().any(|case| case["value"].is_object())
                    }
                };
                let has_reason = entry["reason"].is_string();
                if kind != "claims" {
                    assert_eq!(has_reason, !values, "{id}: {entry}");
                }
                assert!(is_measured || !values, "{id}");
                found.push(id);
            }
        }
        found.sort();
        let mut ids = articles::ids(article());
        assert_eq!(ids.len(), 29);
        ids.sort();
        assert_eq!(found, ids);
        let page = std::fs::read_to_string(directory.path().join("report.html")).unwrap();
        assert!(page.contains("Parallelizing RSA Algorithm on Multicore CPU and GPU"));
        assert!(page.contains("d-tab8"));
    }
}

/// The short form has the cells of the published one, with fewer repeats; both stand in one plan with other articles'.
#[test]
fn both_scales_have_the_same_cells() {
    let host = host(4);
    let groups = |scale| {
        let plan = Plan {
            grids: article().grids(scale),
            ..Preset::Smoke.plan(&host)
        };
        plan.groups(&host).unwrap()
    };
    let (published, short) = (groups(Scale::Published), groups(Scale::Short));
    assert_eq!(published.len(), short.len());
    for (published, short) in published.iter().zip(&short) {
        assert_eq!(published.job, short.job);
        assert_eq!(published.article, Some(article()));
        assert_eq!(published.measure.repeats, Some(100));
        assert!(short.measure.repeats < published.measure.repeats);
    }
    // Seven sizes, two lengths that are one at 768 bits, two exponents, both ways; the same lengths in portions; three
    // kinds of texts; four batches at two sizes.
    assert_eq!(published.len(), 13 * 2 * 2 + 13 * 2 + 3 * 9 * 3 + 4 * 2);
}
