//! The article's two findings: who is faster below 512 bits, and who above.

use rsalab_measure::Estimate;

use super::{
    plan::{BITS, IPP, OPENSSL},
    tables::{cell, protocol},
};
use crate::{
    articles::{Case, Claim, Verdict, cases::side, evidence::Evidence},
    number,
};

/// The size that the article draws its line at.
const LINE: usize = 512;

pub(super) fn of(evidence: Evidence<'_>) -> Vec<Claim> {
    let below = |bits: &usize| *bits < LINE;
    let above = |bits: &usize| *bits > LINE;
    [
        IPP_WINS.decided(cases(evidence, below, Faster::Ipp)),
        OPENSSL_WINS.decided(cases(evidence, above, Faster::Openssl)),
    ]
    .into()
}

const IPP_WINS: Claim = Claim::stated(
    "c-claim-i",
    "Intel IPP makes keys faster than OpenSSL below 512 bits.",
    "IPP only better below 512 bits; no number",
    "Ticks of a key with OpenSSL divided by those with Intel IPP, medians of means, at each size below 512 bits: it \
               holds above 1. OpenSSL 3 and later make no keys below 512 bits; an older libcrypto that is given is asked.",
);
const OPENSSL_WINS: Claim = Claim::stated(
    "c-claim-ii",
    "OpenSSL makes keys faster than Intel IPP in almost all cases above 512 bits.",
    "OpenSSL outperforms IPP in almost all cases; no number",
    "Ticks of a key with Intel IPP divided by those with OpenSSL, medians of means, at each size above 512 bits: it \
               holds above 1.",
);

#[derive(Clone, Copy)]
enum Faster {
    Ipp,
    Openssl,
}

fn cases(evidence: Evidence<'_>, is_asked: impl Fn(&usize) -> bool, faster: Faster) -> Vec<Case> {
    let mut cases = Vec::new();
    for openssl in OPENSSL {
        for bits in BITS.into_iter().filter(&is_asked) {
            let ticks = |engine: &str| protocol(cell(evidence, bits, engine)?);
            let quotient = || -> Result<Estimate, String> {
                let (openssl, ipp) = (ticks(openssl)?, ticks(IPP)?);
                Ok(match faster {
                    Faster::Ipp => openssl.over(&ipp),
                    Faster::Openssl => ipp.over(&openssl),
                })
            };
            let words = match faster {
                Faster::Ipp => "Intel IPP is",
                Faster::Openssl => "OpenSSL is",
            };
            let (verdict, sentence, value) = match quotient() {
                Ok(value) => (
                    side(&value, 1.0).claimed_above(),
                    format!("{words} {} times as fast", number::with_interval(&value)),
                    Some(value),
                ),
                Err(reason) => (Verdict::NotMeasurableHere, reason, None),
            };
            cases.push(Case {
                engine: openssl.to_owned(),
                case: format!("{bits} bits"),
                verdict,
                sentence,
                value,
            });
        }
    }
    cases
}
