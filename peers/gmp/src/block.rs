//! The private and the public operation on raw blocks, in each variant.

use rsalab_engines::{EngineError, Prepared, StudyKey, kit};

use crate::{
    number::Number,
    secret::{Crt, Plain},
};

/// A variant of the private operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PrivateVariant {
    /// `powm_sec`
    CrtSecret,
    /// `powm`
    CrtVartime,
    /// `plain_powm_sec`
    PlainSecret,
    /// `plain_powm`
    PlainVartime,
}

/// A variant of the public operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PublicVariant {
    /// `powm`
    Vartime,
    /// `powm_sec`
    Secret,
}

/// The private operation, of which each thread makes its own numbers from the key.
pub(crate) fn private(variant: PrivateVariant, key: &StudyKey) -> Result<Box<dyn Prepared>, EngineError> {
    // What the recombination counts on when it says that its result fits.
    let (p, q) = (Number::from_bytes(&key.p), Number::from_bytes(&key.q));
    let mut product = Number::with_capacity(8 * key.n.len());
    product.set_product(&p, &q);
    if product != Number::from_bytes(&key.n) {
        return Err(EngineError::Key("p·q is not n".to_owned()));
    }
    let parts = key.clone();
    Ok(match variant {
        PrivateVariant::CrtSecret => kit::blocks("mpn_sec_powm", key, move || {
            let mut crt = Crt::new(&parts)?;
            Ok(done(move |input, output| crt.apply(input, output)))
        }),
        PrivateVariant::PlainSecret => kit::blocks("mpn_sec_powm", key, move || {
            let mut plain = Plain::new(&parts)?;
            Ok(done(move |input, output| plain.apply(input, output)))
        }),
        PrivateVariant::CrtVartime => kit::blocks("mpz_powm", key, move || {
            let mut crt = CrtVartime::new(&parts)?;
            Ok(done(move |input, output| crt.apply(input, output)))
        }),
        PrivateVariant::PlainVartime => kit::blocks("mpz_powm", key, move || {
            let mut power = PowerOf::new(&parts.n, &parts.d, Number::set_power_vartime)?;
            Ok(done(move |input, output| power.apply(input, output)))
        }),
    })
}

/// The public operation.
pub(crate) fn public(variant: PublicVariant, key: &StudyKey) -> Box<dyn Prepared> {
    let parts = key.clone();
    let kernel = match variant {
        PublicVariant::Vartime => "mpz_powm",
        PublicVariant::Secret => "mpz_powm_sec",
    };
    kit::blocks(kernel, key, move || {
        let mut power = match variant {
            PublicVariant::Vartime => PowerOf::new(&parts.n, &parts.e, Number::set_power_vartime)?,
            PublicVariant::Secret => PowerOf::new_secret(&parts.n, &parts.e)?,
        };
        Ok(done(move |input, output| power.apply(input, output)))
    })
}

/// An operation on a block that cannot fail.
fn done(mut operation: impl FnMut(&[u8], &mut [u8])) -> impl FnMut(&[u8], &mut [u8]) -> Result<(), EngineError> {
    move |input, output| {
        operation(input, output);
        Ok(())
    }
}

/// One exponentiation by `mpz_powm` or `mpz_powm_sec`.
struct PowerOf {
    modulus: Number,
    exponent: Number,
    base: Number,
    result: Number,
    raise: Exponentiation,
}

/// `result.raise(base, exponent, modulus)`
type Exponentiation = fn(&mut Number, &Number, &Number, &Number);

impl PowerOf {
    fn new(modulus: &[u8], exponent: &[u8], raise: Exponentiation) -> Result<Self, EngineError> {
        let bits = 8 * modulus.len();
        Ok(Self {
            modulus: not_zero(modulus)?,
            exponent: Number::from_bytes(exponent),
            base: Number::with_capacity(bits),
            result: Number::with_capacity(bits),
            raise,
        })
    }

    /// By `mpz_powm_sec`, which has conditions of its own.
    fn new_secret(modulus: &[u8], exponent: &[u8]) -> Result<Self, EngineError> {
        let power = Self::new(modulus, exponent, Number::set_power_secret)?;
        match power.exponent.is_zero() || !power.modulus.is_odd() {
            false => Ok(power),
            true => Err(EngineError::Key(
                "mpz_powm_sec takes an odd modulus and an exponent above 0".to_owned(),
            )),
        }
    }

    fn apply(&mut self, input: &[u8], output: &mut [u8]) {
        self.base.read(input);
        (self.raise)(&mut self.result, &self.base, &self.exponent, &self.modulus);
        assert!(self.result.write(output), "a residue is shorter than its modulus");
    }
}

/// `c^d mod n` with the Chinese remainder theorem (RFC 8017 section 5.1.2, step 2.b).
struct CrtVartime {
    p: Number,
    q: Number,
    dp: Number,
    dq: Number,
    qinv: Number,
    input: Number,
    base: Number,
    m1: Number,
    m2: Number,
    difference: Number,
    h: Number,
    message: Number,
}

impl CrtVartime {
    fn new(key: &StudyKey) -> Result<Self, EngineError> {
        let bits = 8 * key.n.len() + 64;
        let number = || Number::with_capacity(bits);
        Ok(Self {
            p: not_zero(&key.p)?,
            q: not_zero(&key.q)?,
            dp: Number::from_bytes(&key.dp),
            dq: Number::from_bytes(&key.dq),
            qinv: Number::from_bytes(&key.qinv),
            input: number(),
            base: number(),
            m1: number(),
            m2: number(),
            difference: number(),
            h: number(),
            message: number(),
        })
    }

    fn apply(&mut self, input: &[u8], output: &mut [u8]) {
        let Self {
            p,
            q,
            dp,
            dq,
            qinv,
            input: c,
            base,
            m1,
            m2,
            difference,
            h,
            message,
        } = self;
        c.read(input);
        // (i) m1 = c^dP mod p, m2 = c^dQ mod q
        base.set_modulo(c, p);
        m1.set_power_vartime(base, dp, p);
        base.set_modulo(c, q);
        m2.set_power_vartime(base, dq, q);
        // (iii) h = (m1 − m2)·qInv mod p
        difference.set_difference(m1, m2);
        message.set_product(difference, qinv);
        h.set_modulo(message, p);
        // (iv) m = m2 + q·h
        difference.set_product(h, q);
        message.set_sum(difference, m2);
        assert!(message.write(output), "a residue is shorter than its modulus");
    }
}

fn not_zero(bytes: &[u8]) -> Result<Number, EngineError> {
    let number = Number::from_bytes(bytes);
    if number.is_zero() {
        Err(EngineError::Key("a modulus is zero".to_owned()))
    } else {
        Ok(number)
    }
}
