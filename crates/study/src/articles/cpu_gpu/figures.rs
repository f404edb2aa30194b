//! Figures 3 and 4: throughput of decryption over the messages in flight.

use rsalab_engines::Op;

use super::{
    plan::{CRYPTOPP, GPU, MANY_BITS, MESSAGES, OWN, SEQUENTIAL},
    published::{Column, PUBLISHED},
    times::{Many, Times, Value},
};
use crate::{
    articles::Shown,
    number,
    report::{Axis, Figure, Point, Reference, Scale, Series},
};

const FIGURES: [(&str, usize); 2] = [("d-fig3", MANY_BITS[0]), ("d-fig4", MANY_BITS[1])];

pub(super) fn of(times: Times<'_>) -> (Vec<Shown>, Vec<Figure>) {
    let mut shown = Vec::new();
    let mut figures = Vec::new();
    for (id, bits) in FIGURES {
        let figure = throughput(times, id, bits);
        shown.push(Shown {
            id,
            title: title(bits),
            figures: figure.iter().map(|figure| figure.id.clone()).collect(),
            reason: figure
                .is_none()
                .then(|| format!("no decryption of many messages at {bits} bits is measured yet")),
        });
        figures.extend(figure);
    }
    (shown, figures)
}

/// Messages a second, so many of them in flight.
pub(super) fn per_s(
    times: Times<'_>,
    engine: &str,
    bits: usize,
    messages: usize,
    threads: usize,
) -> Value {
    let many = Many {
        op: Op::TextDecrypt,
        bits,
        messages,
        threads,
    };
    let ns = times.many_ns(many, engine)?;
    Ok(ns.scaled(1e-9 / messages as f64).reciprocal())
}

fn title(bits: usize) -> String {
    format!("Decryptions a second over messages in flight, {bits} bits")
}

fn throughput(times: Times<'_>, id: &str, bits: usize) -> Option<Figure> {
    let mut threads = vec![1];
    threads.extend(times.full_threads());
    let mut series = Vec::new();
    for engine in [SEQUENTIAL, CRYPTOPP, OWN, GPU] {
        for &threads in &threads {
            let points: Vec<Point> = MESSAGES
                .into_iter()
                .filter_map(|messages| {
                    let value = per_s(times, engine, bits, messages, threads).ok()?;
                    Some(Point::at(messages as f64, &value))
                })
                .collect();
            if !points.is_empty() {
                series.push(Series {
                    name: format!("{engine}, {}", number::counted(threads, "thread")),
                    points,
                });
            }
        }
    }
    if series.is_empty() {
        return None;
    }
    if bits == MANY_BITS[0] {
        series.extend(published());
    }
    let about = PUBLISHED.text.throughput.per_s(bits);
    Some(Figure {
        id: id.to_owned(),
        title: title(bits),
        description: format!(
            "Messages decrypted in a second with a key of {bits} bits, over the number of messages that are in flight at once: a line \
             for each engine on one thread and on as many as there are CPUs. {} Whiskers show intervals of 95 %.",
            match bits == MANY_BITS[0] {
                true =>
                    "The published lines are the messages of the article's Table 8 divided by its times: its Figure 3 prints no \
                     numbers.",
                false => "The article's Figure 4 prints no numbers.",
            }
        ),
        x: Axis {
            label: "Messages in flight".to_owned(),
            unit: None,
            scale: Scale::Linear {
                ticks: MESSAGES.map(|messages| messages as f64).into(),
            },
        },
        y: Axis {
            label: "Decryptions".to_owned(),
            unit: Some("messages/s".to_owned()),
            scale: Scale::Log,
        },
        series,
        remark: None,
        references: about
            .map(|about| Reference {
                y: about,
                label: format!("published, GPU: about {}", number::as_printed(about)),
            })
            .into_iter()
            .collect(),
    })
}

/// Table 8 as throughput.
fn published() -> impl Iterator<Item = Series> {
    let of = |(column, name): (Column, &str)| Series {
        name: format!("published, {name}"),
        points: MESSAGES
            .into_iter()
            .filter_map(|messages| {
                let ms = PUBLISHED.messages[1].ms(messages, column)?;
                Some(Point {
                    x: messages as f64,
                    y: messages as f64 / ms * 1e3,
                    low: None,
                    high: None,
                    note: Some(format!("{} ms printed", number::as_printed(ms))),
                    unequal: false,
                })
            })
            .collect(),
    };
    [
        (Column::Sequential, "sequential CPU"),
        (Column::Multithread, "multithread CPU"),
        (Column::Gpu, "GPU"),
    ]
    .into_iter()
    .map(of)
}
