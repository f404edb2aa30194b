//! Section 3.1, Table 1, and section 4's times.

use rsalab_engines::Op;
use rsalab_measure::Estimate;

use super::{
    Step, is_call_by_call, is_long_run,
    plan::{BITS, PRIME_ENGINES, PUBLISHED_PAIRS},
    prime_bits,
    published::PUBLISHED,
};
use crate::{
    articles::{
        Beside, Table, TableRow,
        evidence::{Cell, Evidence, exact},
    },
    number,
};

/// What the article's program is here: GMP, called as it calls it.
pub(super) const PROGRAM: &str = "gmp:random";

type Value = Result<Estimate, String>;

pub(super) fn of(evidence: Evidence<'_>) -> Vec<Table> {
    let mut tables = vec![step_one(evidence)];
    tables.extend(STEP_TABLES.map(|of| steps(evidence, &of)));
    tables.push(times(evidence));
    tables.push(shell(evidence));
    tables.into_iter().map(Table::decided).collect()
}

/// Minimum, maximum and mean of a pair.
fn step_one(evidence: Evidence<'_>) -> Table {
    let published = &PUBLISHED.pairs;
    type Of = fn(Cell<'_>) -> Value;
    let lines: [(&str, Of, &[f64; 3]); 3] = [
        (
            "minimum",
            |cell| Ok(exact(cell.ticks()?.min() as f64)),
            &published.minimum,
        ),
        (
            "maximum",
            |cell| Ok(exact(cell.ticks()?.max() as f64)),
            &published.maximum,
        ),
        ("mean", |cell| cell.mean_ticks(), &published.mean),
    ];
    let mut rows = Vec::new();
    for (place, bits) in BITS.into_iter().enumerate() {
        for (name, value, printed) in &lines {
            let cells = PRIME_ENGINES.map(|engine| {
                let cell = evidence.cell(|job| is_call_by_call(job, bits, 2), engine);
                let printed = (engine == PROGRAM).then_some(printed[place]);
                Beside::new(cell.and_then(value), printed)
            });
            rows.push(TableRow {
                label: format!("{}-bit primes, {name}", prime_bits(bits)),
                cells: cells.into(),
            });
        }
        let cells = PRIME_ENGINES.map(|engine| {
            let cell = evidence.cell(|job| is_call_by_call(job, bits, 2), engine);
            let pairs = cell.map(|cell| {
                let blocks = cell.digest.blocks.iter();
                exact(blocks.map(|block| block.operations).sum::<u64>() as f64)
            });
            let printed = (engine == PROGRAM).then_some(published.count as f64);
            Beside::new(pairs, printed)
        });
        rows.push(TableRow {
            label: format!("{}-bit primes, pairs", prime_bits(bits)),
            cells: cells.into(),
        });
    }
    Table {
        id: "b-step1",
        title: "Section 3.1: ticks of a pair of primes, two threads, each pair timed by the thread that finds it".to_owned(),
        unit: "TSC ticks",
        row_head: "Primes",
        columns: PRIME_ENGINES.map(str::to_owned).into(),
        rows,
        remarks: long_runs(evidence),
        reason: None,
    }
}

/// What our own engine found beyond the pairs that were timed one by one.
fn long_runs(evidence: Evidence<'_>) -> Vec<String> {
    let of_size = |bits: usize| {
        let long = evidence.cell(|job| is_long_run(job, bits), "own").ok()?;
        let pairs = |cell: Cell<'_>| -> u64 {
            let blocks = cell.digest.blocks.iter();
            blocks.map(|block| block.operations).sum()
        };
        let single = evidence.cell(|job| is_call_by_call(job, bits, 2), "own");
        let all = pairs(long) + single.map_or(0, pairs);
        let ticks = long.mean_ticks().ok()?;
        // Two threads work on a sample: its time is half of what a thread needs for a pair.
        let per_pair = ticks.scaled(2.0);
        Some(format!(
            "{} pairs of {}-bit primes by own in all; in the batches among them a pair took {} ticks of a thread.",
            number::whole(all),
            prime_bits(bits),
            number::with_interval(&per_pair)
        ))
    };
    BITS.into_iter().filter_map(of_size).collect()
}

/// Which engines stand for the article's program in a table of steps 2 to 4.
struct StepTable {
    id: &'static str,
    title: &'static str,
    has_published: bool,
    set_up: &'static str,
    encrypts: &'static str,
    decrypts: &'static str,
}

const STEP_TABLES: [StepTable; 3] = [
    StepTable {
        id: "b-tab1",
        title: "Table 1: steps 2 to 4, on GMP as the article calls it, mpz_powm_sec both ways, no CRT",
        has_published: true,
        set_up: "gmp",
        encrypts: "gmp:plain_powm_sec",
        decrypts: "gmp:plain_powm_sec",
    },
    StepTable {
        id: "b-tab1-openmp",
        title: "The same in C with OpenMP on the system's GMP, by its own clock",
        has_published: false,
        set_up: "c-openmp",
        encrypts: "c-openmp:powm_sec",
        decrypts: "c-openmp:powm_sec",
    },
    StepTable {
        id: "b-tab1-own",
        title: "The same with own: in constant time, blinded and checked, no CRT",
        has_published: false,
        set_up: "own",
        encrypts: "own",
        decrypts: "own:plain",
    },
];

impl StepTable {
    fn engine(&self, op: Op) -> &'static str {
        match op {
            Op::Public => self.encrypts,
            Op::Private => self.decrypts,
            _ => self.set_up,
        }
    }
}

fn steps(evidence: Evidence<'_>, of: &StepTable) -> Table {
    let published = &PUBLISHED.steps;
    let full = |op| Step::without_message(op);
    let lines: [(&str, Step, Option<&[f64; 3]>); 6] = [
        (
            "Step 2, n and φ(n)",
            Step::TOTIENT,
            Some(&published.totient),
        ),
        (
            "Step 3, d",
            Step::PRIVATE_EXPONENT,
            Some(&published.private_exponent),
        ),
        (
            "Step 4, encryption of 1,023 bits",
            Step::ENCRYPTION,
            Some(&published.encryption),
        ),
        ("Step 4, encryption, full length", full(Op::Public), None),
        (
            "Step 4, decryption of 1,023 bits",
            Step::DECRYPTION,
            Some(&published.decryption),
        ),
        ("Step 4, decryption, full length", full(Op::Private), None),
    ];
    let mut rows = Vec::new();
    for (name, step, printed) in lines {
        let engine = of.engine(step.op);
        let at = |bits: usize| evidence.cell(|job| step.is_asked(job, bits), engine);
        let printed = |place: usize| printed.filter(|_| of.has_published).map(|row| row[place]);
        let cells = |value: fn(Cell<'_>) -> Value, is_printed: bool| {
            let cells = BITS.into_iter().enumerate().map(|(place, bits)| {
                let printed = printed(place).filter(|_| is_printed);
                Beside::new(at(bits).and_then(value), printed)
            });
            cells.collect()
        };
        rows.push(TableRow {
            label: format!("{name}: first call"),
            cells: cells(first_call, true),
        });
        rows.push(TableRow {
            label: format!("{name}: median"),
            cells: cells(|cell| cell.median_ticks(), false),
        });
    }
    Table {
        id: of.id,
        title: of.title.to_owned(),
        unit: "TSC ticks",
        row_head: "Step",
        columns: BITS
            .map(|bits| format!("{}-bit primes", prime_bits(bits)))
            .into(),
        rows,
        remarks: Vec::new(),
        reason: None,
    }
}

fn first_call(cell: Cell<'_>) -> Value {
    let sample = cell.digest.first_call;
    let ticks = sample.and_then(|sample| sample.tsc_ticks);
    ticks
        .map(|ticks| exact(ticks as f64))
        .ok_or_else(|| "the first call is not told apart".to_owned())
}

/// Section 4: the time of a million pairs, and of everything after.
fn times(evidence: Evidence<'_>) -> Table {
    let published = &PUBLISHED.times;
    let pair = |bits: usize, threads: usize, engine: &str| -> Value {
        let cell = evidence.cell(|job| is_call_by_call(job, bits, threads), engine)?;
        Ok(cell.wall_ns()?.scaled(1e-9))
    };
    let million = |bits: usize, threads: usize, engine: &str| -> Value {
        Ok(pair(bits, threads, engine)?.scaled(PUBLISHED_PAIRS as f64))
    };
    let engines = PRIME_ENGINES;
    let row = |label: String, value: &dyn Fn(&str) -> Value, printed: f64| TableRow {
        label,
        cells: engines
            .iter()
            .map(|engine| {
                let printed = (*engine == PROGRAM).then_some(printed);
                Beside::new(value(engine), printed)
            })
            .collect(),
    };
    let mut rows = Vec::new();
    for (place, bits) in BITS.into_iter().enumerate() {
        rows.push(row(
            format!("a pair of {}-bit primes, one thread", prime_bits(bits)),
            &|engine| pair(bits, 1, engine),
            published.pair_s[place],
        ));
    }
    for (place, bits) in BITS.into_iter().enumerate() {
        rows.push(row(
            format!("{}-bit primes, one thread", prime_bits(bits)),
            &|engine| million(bits, 1, engine),
            published.million_s[place],
        ));
    }
    rows.push(row(
        "all three, one thread".to_owned(),
        &|engine| sum(BITS.map(|bits| million(bits, 1, engine))),
        published.serial_s,
    ));
    for bits in BITS {
        rows.push(TableRow {
            label: format!("{}-bit primes, two threads", prime_bits(bits)),
            cells: engines
                .iter()
                .map(|engine| Beside::new(million(bits, 2, engine), None))
                .collect(),
        });
    }
    rows.push(row(
        "all three, two threads".to_owned(),
        &|engine| sum(BITS.map(|bits| million(bits, 2, engine))),
        published.parallel_s,
    ));
    for (place, bits) in BITS.into_iter().enumerate() {
        rows.push(row(
            format!("steps 2 to 4, {}-bit primes", prime_bits(bits)),
            &|engine| after_primes(evidence, bits, engine),
            published.steps_s[place],
        ));
    }
    Table {
        id: "b-times",
        title: "Section 4: predicted times of a million pairs at each size, and of steps 2 to 4"
            .to_owned(),
        unit: "s",
        row_head: "What",
        columns: engines.map(str::to_owned).into(),
        rows,
        remarks: vec![format!(
            "Ours are wall times of the pairs that were measured, extrapolated to a million; the article's are its mean ticks \
             divided by {} GHz, halved for two threads and multiplied by {}.",
            published.clock_hz * 1e-9,
            published.overhead
        )],
        reason: None,
    }
}

/// Seconds of steps 2 to 4 by the medians, the message of 1,023 bits both ways.
fn after_primes(evidence: Evidence<'_>, bits: usize, engine: &str) -> Value {
    let table = STEP_TABLES
        .iter()
        .find(|table| engine.starts_with(table.set_up))
        .ok_or_else(|| format!("{engine} has no steps"))?;
    let steps = [
        Step::TOTIENT,
        Step::PRIVATE_EXPONENT,
        Step::ENCRYPTION,
        Step::DECRYPTION,
    ];
    sum(steps.map(|step| {
        let engine = table.engine(step.op);
        let cell = evidence.cell(|job| step.is_asked(job, bits), engine)?;
        Ok(cell.median_ns().scaled(1e-9))
    }))
}

/// The sum of independent estimates: distances to the ends of intervals add in quadrature, as for a quotient.
pub(super) fn sum<const N: usize>(parts: [Value; N]) -> Value {
    let parts = parts.into_iter().collect::<Result<Vec<_>, _>>()?;
    let value: f64 = parts.iter().map(|part| part.value).sum();
    let distance = |of: fn(&Estimate) -> f64| {
        let squares: f64 = parts.iter().map(|part| of(part).powi(2)).sum();
        squares.sqrt()
    };
    Ok(Estimate {
        value,
        low: value - distance(|part| part.value - part.low),
        high: value + distance(|part| part.high - part.value),
        confidence: parts.iter().map(|part| part.confidence).fold(1.0, f64::min),
        n: parts.iter().map(|part| part.n).min().unwrap_or(0),
    })
}

/// What the article's `time` command would print of the pairs that were timed one by one.
fn shell(evidence: Evidence<'_>) -> Table {
    let mut rows = Vec::new();
    for bits in BITS {
        for threads in [1, 2] {
            for engine in PRIME_ENGINES {
                let cell = evidence.cell(|job| is_call_by_call(job, bits, threads), engine);
                rows.push(TableRow {
                    label: format!(
                        "{engine}, {}-bit primes, {}",
                        prime_bits(bits),
                        number::counted(threads, "thread")
                    ),
                    cells: real_user_system(cell)
                        .map(|value| Beside::new(value, None))
                        .into(),
                });
            }
        }
    }
    Table {
        id: "b-shell",
        title: "Real, user and system time of the pairs that were found".to_owned(),
        unit: "s",
        row_head: "What",
        columns: ["pairs", "real", "user", "system"]
            .map(str::to_owned)
            .into(),
        rows,
        remarks: vec![
            "The column of pairs is a count. Linux counts CPU time in hundredths of a second."
                .to_owned(),
        ],
        reason: None,
    }
}

fn real_user_system(cell: Result<Cell<'_>, String>) -> [Value; 4] {
    let cell = match cell {
        Ok(cell) => cell,
        Err(reason) => return [(); 4].map(|()| Err(reason.clone())),
    };
    let blocks = &cell.digest.blocks;
    let pairs: u64 = blocks.iter().map(|block| block.operations).sum();
    let real: u64 = blocks.iter().map(|block| block.elapsed_ns).sum();
    let cpu = |of: fn(rsalab_measure::CpuTime) -> u64| -> Value {
        let times = blocks.iter().map(|block| block.cpu.map(of));
        let sum: Option<u64> = times.sum();
        sum.map(|ns| exact(ns as f64 * 1e-9))
            .ok_or_else(|| "the system does not tell".to_owned())
    };
    [
        Ok(exact(pairs as f64)),
        Ok(exact(real as f64 * 1e-9)),
        cpu(|cpu| cpu.user_ns),
        cpu(|cpu| cpu.system_ns),
    ]
}
