//! The suite, in order.

use rsalab_rsa::{keys::most_primes, random::InsecureStudySeed};

use super::{
    case::{Case, ConformanceError},
    scope::Scope,
    suite::Suite,
};
use crate::{client::Session, exponent::Exponent, job::StudyKey, op::Op};

/// Keys that the items of a batch are under by turns.
const SEVERAL_KEYS: u64 = 3;

/// Runs the suite. Keys and inputs come from `seed`; `report` gets each case as it is decided.
///
/// # Errors
/// Those after which there is no worker to go on with, and keys that could not be made.
pub fn run(
    session: &mut dyn Session,
    scope: &Scope,
    seed: &InsecureStudySeed,
    report: &mut dyn FnMut(Case),
) -> Result<(), ConformanceError> {
    for &(bits, items) in &scope.sizes {
        let key = StudyKey::from_seed(seed, bits, Exponent::F4)?;
        let mut suite = Suite::new(session, scope, seed, &key, report);
        for op in [Op::Private, Op::Public] {
            suite.blocks(op, items)?;
        }
        for op in [Op::Totient, Op::PrivateExponent] {
            suite.random_inputs(op, items)?;
        }
        for op in [Op::TextEncrypt, Op::TextDecrypt] {
            suite.texts(op)?;
        }
        for op in [Op::Sign, Op::Verify] {
            suite.signatures(op, items)?;
        }
        suite.screening(items)?;
        for op in [Op::ImportPrivate, Op::ImportVerify] {
            // The eighth signature is spoilt.
            suite.where_offered(op, items.clamp(1, 9))?;
        }
        for op in [
            Op::SignMessage,
            Op::Handshake,
            Op::HandshakeServer,
            Op::HandshakeResumed,
        ] {
            suite.where_offered(op, items.clamp(1, 9))?;
        }
        let others = (1..SEVERAL_KEYS).map(|number| StudyKey::numbered(seed, bits, Exponent::F4, 2, number));
        let others: Vec<StudyKey> = others.collect::<Result<_, _>>()?;
        for op in [Op::Private, Op::Sign] {
            suite.several_keys(op, &others, items.clamp(1, 12))?;
        }
        if most_primes(bits) > 2 {
            let key = StudyKey::numbered(seed, bits, Exponent::F4, most_primes(bits), 0)?;
            let mut suite = Suite::new(session, scope, seed, &key, report);
            for op in [Op::Private, Op::Sign] {
                suite.where_offered(op, items)?;
            }
        }
    }
    for &(bits, count) in &scope.keys {
        // Its only use is to be there: these operations take none.
        let key = StudyKey::from_seed(seed, bits, Exponent::F4)?;
        let mut suite = Suite::new(session, scope, seed, &key, report);
        for op in [Op::Keygen, Op::PrimePair] {
            suite.made(op, count)?;
        }
        suite.given_candidates(count)?;
    }
    Ok(())
}
