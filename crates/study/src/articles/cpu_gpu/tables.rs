//! Tables 1 to 8, and those that the article's words call for.

use rsalab_engines::Op;

use super::{
    plan::{
        BATCHED, BATCHES, BITS, CRYPTOPP, GPU, GPU_TUNED, HALVES, MANY_BITS, MESSAGES, OWN,
        SEQUENTIAL, SEQUENTIAL_CRT, WITH_AND_WITHOUT_CRT,
    },
    published::{Column, PUBLISHED},
    times::{Length, Many, One, Times, Value},
};
use crate::{
    articles::{Beside, Table, TableRow},
    number,
};

const MS_PER_NS: f64 = 1e-6;

/// Why one encryption does not run on several threads.
pub(super) const NO_HALVES: &str = "one encryption has no halves";

pub(super) fn of(times: Times<'_>) -> Vec<Table> {
    let mut tables: Vec<Table> = LATENCY
        .iter()
        .enumerate()
        .map(|(place, head)| latency(times, place, head))
        .collect();
    tables.extend(
        SPEED_UP
            .iter()
            .enumerate()
            .map(|(place, head)| speed_up(times, place, head)),
    );
    tables.extend(
        MANY.iter()
            .enumerate()
            .map(|(place, head)| many(times, place, head)),
    );
    tables.push(multithread(times));
    tables.push(crt(times));
    tables.push(exponent(times));
    tables.push(batches(times));
    tables.into_iter().map(Table::decided).collect()
}

struct Head<T> {
    id: &'static str,
    title: &'static str,
    of: T,
}

const LATENCY: [Head<(Op, Length)>; 4] = [
    Head {
        id: "d-tab1",
        title: "Table 1: encryption of one message of 760 bits",
        of: (Op::Public, Length::Fixed),
    },
    Head {
        id: "d-tab2",
        title: "Table 2: decryption of one message of 760 bits",
        of: (Op::Private, Length::Fixed),
    },
    Head {
        id: "d-tab3",
        title: "Table 3: encryption of one message, a byte shorter than the modulus",
        of: (Op::Public, Length::ByteShorter),
    },
    Head {
        id: "d-tab4",
        title: "Table 4: decryption of one message, a byte shorter than the modulus",
        of: (Op::Private, Length::ByteShorter),
    },
];

/// Tables 1 to 4: milliseconds of one message.
fn latency(times: Times<'_>, place: usize, head: &Head<(Op, Length)>) -> Table {
    let (op, length) = head.of;
    let published = &PUBLISHED.latency[place];
    debug_assert_eq!(published.id, head.id);
    let row = |bits: usize| {
        let one = One::of(op, bits, length);
        let ms = |engine: &str| Ok(times.one_ns(one, engine)?.scaled(MS_PER_NS));
        let beside = |value: Value, column| Beside::new(value, published.ms(bits, column));
        TableRow {
            label: bits.to_string(),
            cells: vec![
                beside(ms(CRYPTOPP), Column::CryptoPp),
                beside(ms(SEQUENTIAL), Column::Sequential),
                beside(halves(op, ms(HALVES)), Column::Multithread),
                beside(ms(GPU), Column::Gpu),
                Beside::new(ms(GPU_TUNED), None),
                Beside::new(ms(OWN), None),
            ],
        }
    };
    let mut remarks = vec![match op {
        Op::Public => format!(
            "Multithread CPU of one message: {NO_HALVES}, since the CRT takes the primes. What threads gain where many messages \
             are encrypted at once is in Table 7."
        ),
        _ => "Multithread CPU of one message: its two CRT halves on two threads, which is all that one message has to share \
              out. What threads gain where many messages are decrypted at once is in Table 8."
            .to_owned(),
    }];
    remarks.extend(if_no_gpu(times));
    if op == Op::Private && length == Length::ByteShorter {
        remarks.push(full_size(times));
    }
    Table {
        id: head.id,
        title: head.title.to_owned(),
        unit: "ms",
        row_head: "Key (bits)",
        columns: vec![
            format!("Crypto++ ({CRYPTOPP})"),
            format!("Sequential CPU ({SEQUENTIAL})"),
            format!("Multithread CPU, one message ({HALVES})"),
            format!("Many-core GPU ({GPU})"),
            format!("the same, tuned launch ({GPU_TUNED})"),
            format!("this project's {OWN}"),
        ],
        rows: BITS.map(row).into(),
        remarks,
        reason: None,
    }
}

/// A form that no encryption has is not a lack of this study.
fn halves(op: Op, value: Value) -> Value {
    match op {
        Op::Public => value.map_err(|reason| {
            match ["no form", "no variant"]
                .iter()
                .any(|none| reason.contains(none))
            {
                true => NO_HALVES.to_owned(),
                false => reason,
            }
        }),
        _ => value,
    }
}

/// The reason of the GPU's cells at length.
fn if_no_gpu(times: Times<'_>) -> Option<String> {
    if times.is_on_cpu() {
        return Some(
            "Many-core GPU: there is none in this machine. Its columns have the same kernels on the CPU, by OpenCL: they show that \
             the whole path works, and nothing of how fast a GPU is."
                .to_owned(),
        );
    }
    let reason = times.lack_of_figures()?;
    Some(format!("Many-core GPU: {reason}."))
}

/// What the article's Tables 2 and 4 say of the same work, and what is measured here.
fn full_size(times: Times<'_>) -> String {
    const BITS: usize = 8192;
    let printed = |place: usize| PUBLISHED.latency[place].ms(BITS, Column::Sequential);
    let quotient = printed(3).zip(printed(1)).map(|(full, fixed)| full / fixed);
    let published = format!(
        "The article's sequential decryption at {BITS} bits takes {:.1} times as long in Table 4 as in Table 2, though ciphertexts are \
         as long as the modulus in both",
        quotient.unwrap_or(f64::NAN)
    );
    let time = |length| times.one_ns(One::of(Op::Private, BITS, length), SEQUENTIAL);
    match (time(Length::ByteShorter), time(Length::Fixed)) {
        (Ok(full), Ok(fixed)) => format!(
            "{published}; here it takes {} times as long.",
            number::with_interval(&full.over(&fixed))
        ),
        (Err(reason), _) | (_, Err(reason)) => format!("{published}; here: {reason}."),
    }
}

const SPEED_UP: [Head<Length>; 2] = [
    Head {
        id: "d-tab5",
        title: "Table 5: speed-up beside the sequential CPU, from Tables 1 and 2",
        of: Length::Fixed,
    },
    Head {
        id: "d-tab6",
        title: "Table 6: speed-up beside the sequential CPU, from Tables 3 and 4",
        of: Length::ByteShorter,
    },
];

/// Tables 5 and 6: equation 1.
fn speed_up(times: Times<'_>, place: usize, head: &Head<Length>) -> Table {
    let published = &PUBLISHED.speed_up[place];
    debug_assert_eq!(published.id, head.id);
    let row = |bits: usize| {
        let mut cells = Vec::new();
        for op in [Op::Public, Op::Private] {
            let one = One::of(op, bits, head.of);
            let printed = published.printed(bits, op == Op::Private);
            let s1 = halves(op, times.speed(one, HALVES, SEQUENTIAL));
            let s2 = times.speed(one, GPU, SEQUENTIAL);
            cells.push(Beside::new(s1, printed.map(|[s1, _]| s1)));
            cells.push(Beside::new(s2, printed.map(|[_, s2]| s2)));
        }
        let one = One::of(Op::Private, bits, head.of);
        cells.push(Beside::new(times.speed(one, HALVES, SEQUENTIAL_CRT), None));
        TableRow {
            label: bits.to_string(),
            cells,
        }
    };
    let mut remarks = vec![format!(
        "Equation 1: time of the sequential CPU ({SEQUENTIAL}) divided by that of the multithread CPU ({HALVES}; S1) and of the GPU \
         (S2), measured in turn. Of our S1, the CRT makes most: the last column has what the second thread alone makes \
         ({SEQUENTIAL_CRT} divided by {HALVES})."
    )];
    remarks.extend(if_no_gpu(times));
    let misprints = PUBLISHED.misprints_of(place);
    remarks.extend(misprints.iter().map(|misprint| misprint.sentence()));
    Table {
        id: head.id,
        title: head.title.to_owned(),
        unit: "",
        row_head: "Key (bits)",
        columns: [
            "Encryption, S1",
            "Encryption, S2",
            "Decryption, S1",
            "Decryption, S2",
            "Decryption, of S1 the second thread's",
        ]
        .map(str::to_owned)
        .into(),
        rows: BITS.map(row).into(),
        remarks,
        reason: None,
    }
}

const MANY: [Head<Op>; 2] = [
    Head {
        id: "d-tab7",
        title: "Table 7: encryption of many messages, key of 1024 bits",
        of: Op::TextEncrypt,
    },
    Head {
        id: "d-tab8",
        title: "Table 8: decryption of many messages, key of 1024 bits",
        of: Op::TextDecrypt,
    },
];

/// Tables 7 and 8: milliseconds of all messages.
fn many(times: Times<'_>, place: usize, head: &Head<Op>) -> Table {
    let published = &PUBLISHED.messages[place];
    debug_assert_eq!(published.id, head.id);
    let full = times.full_threads();
    let row = |messages: usize| {
        let ms = |engine: &str, threads: usize| {
            let many = Many {
                op: head.of,
                bits: MANY_BITS[0],
                messages,
                threads,
            };
            Ok(times.many_ns(many, engine)?.scaled(MS_PER_NS))
        };
        let on_all = |engine: &str| ms(engine, full.clone()?);
        let beside = |value: Value, column| Beside::new(value, published.ms(messages, column));
        TableRow {
            label: messages.to_string(),
            cells: vec![
                beside(ms(CRYPTOPP, 1), Column::CryptoPp),
                beside(ms(SEQUENTIAL, 1), Column::Sequential),
                beside(on_all(SEQUENTIAL), Column::Multithread),
                beside(ms(GPU, 1), Column::Gpu),
                Beside::new(ms(GPU_TUNED, 1), None),
                Beside::new(ms(OWN, 1), None),
                Beside::new(on_all(OWN), None),
            ],
        }
    };
    let threads = match &full {
        Ok(threads) => number::counted(*threads, "thread"),
        Err(_) => "several threads".to_owned(),
    };
    let mut remarks = vec![format!(
        "Messages of {} bytes, all in flight at once: wall time from the first to the last, on {threads} for the multithread CPU. \
         The article's processor has four cores with two hardware threads each.",
        super::plan::message_bytes(MANY_BITS[0])
    )];
    remarks.extend(if_no_gpu(times));
    Table {
        id: head.id,
        title: head.title.to_owned(),
        unit: "ms",
        row_head: "Messages",
        columns: vec![
            format!("Crypto++ ({CRYPTOPP})"),
            format!("Sequential CPU ({SEQUENTIAL})"),
            format!("Multithread CPU ({SEQUENTIAL}, {threads})"),
            format!("Many-core GPU ({GPU})"),
            format!("the same, tuned launch ({GPU_TUNED})"),
            format!("this project's {OWN}"),
            format!("{OWN}, {threads}"),
        ],
        rows: MESSAGES.map(row).into(),
        remarks,
        reason: None,
    }
}

/// Both meanings of "multithreaded": one message in its two halves, and many in flight.
fn multithread(times: Times<'_>) -> Table {
    let messages = MESSAGES[MESSAGES.len() - 1];
    let full = times.full_threads();
    let row = |(one_op, op, bits): (Op, Op, usize)| {
        let one = One::of(one_op, bits, Length::ByteShorter);
        let alone = |engine: &str| Ok(times.one_ns(one, engine)?.scaled(MS_PER_NS));
        let in_flight = |engine: &str| {
            let many = Many {
                op,
                bits,
                messages,
                threads: full.clone()?,
            };
            Ok(times
                .many_ns(many, engine)?
                .scaled(MS_PER_NS / messages as f64))
        };
        let direction = match op {
            Op::TextEncrypt => "encryption",
            _ => "decryption",
        };
        TableRow {
            label: format!("{direction}, {bits} bits"),
            cells: [
                alone(SEQUENTIAL),
                halves(one_op, alone(HALVES)),
                in_flight(SEQUENTIAL),
                alone(OWN),
                in_flight(OWN),
            ]
            .map(|value| Beside::new(value, None))
            .into(),
        }
    };
    let threads = match &full {
        Ok(threads) => number::counted(*threads, "thread"),
        Err(_) => "several threads".to_owned(),
    };
    Table {
        id: "d-multithread",
        title: "What \"multithreaded\" means: time of a message".to_owned(),
        unit: "ms",
        row_head: "",
        columns: vec![
            format!("one message, one thread ({SEQUENTIAL})"),
            format!("one message, its two CRT halves ({HALVES})"),
            format!("{messages} messages in flight, {threads}: wall ÷ messages ({SEQUENTIAL})"),
            format!("one message ({OWN})"),
            format!("{messages} in flight, {threads}: wall ÷ messages ({OWN})"),
        ],
        rows: [
            (Op::Public, Op::TextEncrypt, MANY_BITS[0]),
            (Op::Private, Op::TextDecrypt, MANY_BITS[0]),
            (Op::Private, Op::TextDecrypt, MANY_BITS[1]),
        ]
        .map(row)
        .into(),
        remarks: vec![
            "The first is a latency, what a caller waits for; the other, wall ÷ messages, is the reciprocal of a throughput, and no \
             message was done in that time."
                .to_owned(),
        ],
        reason: None,
    }
}

/// What the CRT makes.
fn crt(times: Times<'_>) -> Table {
    let row = |bits: usize| {
        let one = One::of(Op::Private, bits, Length::ByteShorter);
        let cells = WITH_AND_WITHOUT_CRT
            .map(|[with, without]| Beside::new(times.speed(one, with, without), None));
        TableRow {
            label: bits.to_string(),
            cells: cells.into(),
        }
    };
    Table {
        id: "d-crt",
        title: "Decryption without the CRT: how many times as long as with it".to_owned(),
        unit: "",
        row_head: "Key (bits)",
        columns: WITH_AND_WITHOUT_CRT
            .map(|[with, without]| format!("{without} ÷ {with}"))
            .into(),
        rows: BITS.map(row).into(),
        remarks: vec![
            "Two powers of half the length, with half the exponent, are an eighth of the work each where multiplication is \
             quadratic: 4 times is the most that the CRT makes of it, and 8 times where the two are worked on side by side, as \
             this project's own are in the lanes of a vector. What the forms differ in beside the CRT (blinding, check of the \
             result) is in their conditions."
                .to_owned(),
        ],
        reason: None,
    }
}

/// What a random exponent, as the article's step 3 has it, makes of both directions.
fn exponent(times: Times<'_>) -> Table {
    const ENGINES: [&str; 3] = [SEQUENTIAL, CRYPTOPP, OWN];
    const DIRECTIONS: [(Op, &str); 2] = [(Op::Public, "encryption"), (Op::Private, "decryption")];
    let row = |bits: usize| {
        let mut cells = Vec::new();
        for (op, _) in DIRECTIONS {
            let one = One::of(op, bits, Length::ByteShorter);
            for engine in ENGINES {
                let quotient = || {
                    let random = times.one_ns(one.with_random_exponent(), engine)?;
                    Ok(random.over(&times.one_ns(one, engine)?))
                };
                cells.push(Beside::new(quotient(), None));
            }
        }
        TableRow {
            label: bits.to_string(),
            cells,
        }
    };
    let columns = DIRECTIONS
        .iter()
        .flat_map(|(_, direction)| ENGINES.map(|engine| format!("{direction} ({engine})")));
    Table {
        id: "d-exponent",
        title: "A random public exponent: how many times as long as with 65537".to_owned(),
        unit: "",
        row_head: "Key (bits)",
        columns: columns.collect(),
        rows: BITS.map(row).into(),
        remarks: vec![
            "Step 3 of the article's section 3 draws e at random below φ(n), prime to it; its encryption times are those of a \
             short one, and it says itself that e is small."
                .to_owned(),
            "The textbook's decryption does not know e. One that is blinded by a power of e, and checked by another, pays for a \
             long one as encryption does."
                .to_owned(),
        ],
        reason: None,
    }
}

/// What a batch costs, over its size: where a device begins to pay, what copies cost, and what both sides do together.
fn batches(times: Times<'_>) -> Table {
    let sizes = MANY_BITS
        .into_iter()
        .flat_map(|bits| BATCHES.map(|batch| (bits, batch)));
    let row = |(bits, batch): (usize, usize)| {
        let ms = |engine: &str| {
            let one = times.batched_ns(bits, batch, engine)?;
            Ok(one.scaled(MS_PER_NS * batch as f64))
        };
        TableRow {
            label: format!("{bits} bits, {batch}"),
            cells: BATCHED.map(|engine| Beside::new(ms(engine), None)).into(),
        }
    };
    let mut remarks = vec![
        "Time of a whole batch. The first engine is on one thread of the CPU; resident counts neither the way to the device nor the way \
         back; hybrid shares each batch between the device and all CPUs, and takes the CPUs alone where the device would not be of use."
            .to_owned(),
    ];
    remarks.extend(if_no_gpu(times));
    Table {
        id: "d-batches",
        title: "Batches of decryptions on a device, and what the copies cost".to_owned(),
        unit: "ms",
        row_head: "Key, messages",
        columns: BATCHED.map(str::to_owned).into(),
        rows: sizes.map(row).collect(),
        remarks,
        reason: None,
    }
}
