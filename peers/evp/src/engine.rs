//! Which jobs are done, and under which conditions.

use rsalab_engines::{
    Engine, EngineError, EngineInfo, Exponent, Job, Ledger, OPTIMISED, Op, Prepared, Reason, StudyKey, ensure, kit,
};

use crate::{
    arithmetic, block,
    context::BlockOperation,
    count::Search,
    generate, import,
    library::{Family, Libcrypto, Version},
    signature,
};

/// A libcrypto as an engine.
#[derive(Debug)]
pub struct EvpEngine {
    name: &'static str,
    origin: String,
    library: Libcrypto,
}

impl EvpEngine {
    /// An engine of the fixed name, on a library that came from `origin`.
    pub fn new(name: &'static str, origin: String, library: Libcrypto) -> Self {
        Self { name, origin, library }
    }

    /// The shortest modulus of keys made by `EVP_PKEY_keygen`: `RSA_MIN_MODULUS_BITS` from 1.1.1 on and the number in
    /// its place in 1.1.0 (`pkey_rsa_ctrl` in `rsa_pmeth.c`), 256 in 1.0.2. AWS-LC makes shorter ones, but uses none.
    fn least_bits(&self) -> usize {
        match self.library.family() {
            Family::OpenSsl if self.library.version() < V1_1_0 => 256,
            _ => 512,
        }
    }

    /// Primes by themselves may be of any size.
    fn refuse_short(&self, job: &Job) -> Result<(), Reason> {
        let least = match job.op {
            Op::Keygen => self.least_bits(),
            Op::PrimePair | Op::PrimeSearch | Op::Totient | Op::PrivateExponent => return Ok(()),
            _ => 512,
        };
        match job.bits < least {
            false => Ok(()),
            true => Err(Reason(format!(
                "{} takes keys of {least} bits and more, not of {}",
                self.library.version_text(),
                job.bits
            ))),
        }
    }

    /// A random exponent is as long as the modulus. OpenSSL's public operation takes 64 bits at most
    /// (`OPENSSL_RSA_MAX_PUBEXP_BITS`) where the modulus has more than 3072 (`OPENSSL_RSA_SMALL_MODULUS_BITS`); AWS-LC
    /// reads no key with more than 33 (`rsa_check_public_key`).
    fn refuse_random_exponent(&self, job: &Job) -> Result<(), Reason> {
        if job.exponent != Exponent::Random {
            return Ok(());
        }
        match self.library.family() {
            Family::AwsLc => {
                Err("AWS-LC takes public exponents of 33 bits at most, and a random one is as long as the modulus".into())
            }
            Family::OpenSsl if matches!(job.op, Op::Public | Op::Verify) && job.bits > 3072 => {
                Err("OpenSSL takes public exponents of 64 bits at most with moduli above 3072 bits, and a random one is as long as the modulus".into())
            }
            Family::OpenSsl => Ok(()),
        }
    }

    /// The primes of a job's key, where there are more than two and the library uses them: OpenSSL from 1.1.1 on
    /// (`rsa_multip_cap` in `rsa_mp.c`); AWS-LC reads no version of `RSAPrivateKey` but 0.
    fn primes_of(&self, job: &Job) -> Option<usize> {
        let uses = self.library.family() == Family::OpenSsl && self.library.version() >= V1_1_1;
        (uses && job.primes > 2).then_some(job.primes)
    }

    /// AWS-LC's `rsa_generate_key_impl` cuts sizes down to multiples of 128, and takes exponents of 32 bits at most.
    fn refuse_key(&self, job: &Job) -> Result<(), Reason> {
        if self.library.family() == Family::OpenSsl {
            return Ok(());
        }
        ensure!(
            job.bits.is_multiple_of(128),
            "{} makes keys whose bits are a multiple of 128",
            self.name
        );
        ensure!(
            job.fixed_exponent() <= u64::from(u32::MAX),
            "{} makes keys with exponents of 32 bits at most",
            self.name
        );
        Ok(())
    }
}

impl Engine for EvpEngine {
    fn info(&self) -> EngineInfo {
        EngineInfo {
            name: self.name.to_owned(),
            version: self.library.version_text(),
            origin: self.origin.clone(),
            cpu_path: self.library.cpu_settings(),
            variants: Vec::new(),
            optimised: self.library.optimised() && OPTIMISED,
        }
    }

    fn supports(&self, job: &Job) -> Result<Ledger, Reason> {
        job.check()?;
        kit::only_variant(job)?;
        if job.bare {
            return Err("libcrypto always blinds and checks its private operation".into());
        }
        self.refuse_short(job)?;
        self.refuse_random_exponent(job)?;
        let numbers = || Ledger::native("numbers, once per thread");
        Ok(match job.op {
            // Blinding: `rsa_get_blinding` unless RSA_FLAG_NO_BLINDING, which nothing sets here. Check:
            // `rsa_ossl_mod_exp` raises the result to e and compares. Both in `rsa_ossl.c` of every version from 1.1.1
            // to 4.0 (`rsa_eay.c` in 1.0.2), and in AWS-LC's `rsa_impl.c` (`rsa_default_private_transform`).
            Op::Private | Op::Sign | Op::SignMessage => Ledger {
                primes: self.primes_of(job),
                crt: Some(true),
                blinding: Some(true),
                result_check: Some(true),
                constant_time: Some(true),
                ..Ledger::native("key read, Montgomery contexts and blinding made, once per thread").padded_for(job.op)
            },
            Op::Public | Op::Verify => Ledger {
                exponent: Some(job.exponent),
                ..Ledger::native("key read, Montgomery context made, once per thread").padded_for(job.op)
            },
            Op::ImportPrivate if self.library.table.EVP_PKEY_get_bn_param.is_none() => {
                return Err("it has no function that tells a key's modulus alone, before OpenSSL 3.0".into());
            }
            // `d2i_AutoPrivateKey` takes the numbers as they are: `EVP_PKEY_check` is another call.
            Op::ImportPrivate => Ledger {
                rounds: Some("no check of relations, no test of primes".to_owned()),
                ..Ledger::native("")
            },
            Op::ImportVerify => Ledger {
                exponent: Some(job.exponent),
                ..Ledger::native("").padded_for(job.op)
            },
            Op::Keygen => {
                kit::even_bits(job)?;
                self.refuse_key(job)?;
                let search = self.library.key_search(job.bits, job.fixed_exponent());
                Ledger {
                    rounds: Some(self.library.key_rounds(job.bits, search)),
                    sieve: Some(self.library.sieve(job.bits / 2, search)),
                    exponent: Some(job.exponent),
                    ..Ledger::native("context with size and exponent, once per thread")
                }
            }
            Op::PrimePair => {
                kit::even_bits(job)?;
                let search = self.library.prime_search();
                Ledger {
                    rounds: Some(self.library.prime_rounds(job.bits / 2)),
                    sieve: Some(self.library.sieve(job.bits / 2, search)),
                    exponent: Some(job.exponent),
                    ..numbers()
                }
            }
            Op::PrimeSearch if self.library.version() >= V3_0 => {
                return Err(
                    "it tests a given candidate with 64 rounds at least, and its own with fewer: a search would \
                            measure something else"
                        .into(),
                );
            }
            Op::PrimeSearch => {
                kit::even_bits(job)?;
                Ledger {
                    rounds: Some(self.library.prime_rounds(job.bits / 2)),
                    sieve: Some(self.library.sieve(job.bits / 2, Search::Independent)),
                    ..numbers()
                }
            }
            Op::Totient => Ledger {
                constant_time: Some(false),
                ..numbers()
            },
            Op::PrivateExponent => Ledger {
                // AWS-LC knows no mark of secret numbers.
                constant_time: Some(self.library.family() == Family::OpenSsl),
                exponent: Some(job.exponent),
                ..Ledger::native("exponent and numbers, once per thread")
            },
            other => return Err(kit::not_done(self.name, other)),
        })
    }

    fn prepare(&self, job: &Job, keys: &[StudyKey]) -> Result<Box<dyn Prepared + '_>, EngineError> {
        self.supports(job)?;
        let library = &self.library;
        let key = || kit::key(job, keys);
        Ok(match job.op {
            Op::Private => block::blocks(library, BlockOperation::Decrypt, key()?)?,
            Op::Public => block::blocks(library, BlockOperation::Encrypt, key()?)?,
            Op::Sign => signature::signing(library, job, key()?)?,
            Op::SignMessage => signature::signing_messages(library, job, key()?)?,
            Op::Verify => signature::verifying(library, job, key()?)?,
            Op::ImportPrivate => import::private_keys(library, job),
            Op::ImportVerify => import::verifications(library, job),
            Op::PrimeSearch => generate::candidates(library, job),
            Op::Keygen => generate::keys(library, job),
            Op::PrimePair => generate::prime_pairs(library, job),
            Op::Totient => arithmetic::totient(library, job),
            Op::PrivateExponent => arithmetic::private_exponent(library, job),
            other => return Err(kit::not_done(self.name, other).into()),
        })
    }
}

const V1_1_0: Version = Version::new(1, 1, 0);
const V1_1_1: Version = Version::new(1, 1, 1);
const V3_0: Version = Version::new(3, 0, 0);
const V3_1: Version = Version::new(3, 1, 0);

/// Facts of the versions' key generation, from their sources.
impl Libcrypto {
    /// From 3.0 on, keys of 2048 bits and more with an exponent above 2^16 come from auxiliary primes (`rsa_keygen` in
    /// `rsa_gen.c`).
    pub(crate) fn key_search(&self, bits: usize, exponent: u64) -> Search {
        if self.family() == Family::AwsLc {
            Search::Independent
        } else if self.version() >= V3_0 && bits >= 2048 && exponent > 0xffff {
            Search::Auxiliary
        } else {
            Search::Plain
        }
    }

    /// That of `BN_generate_prime_ex`.
    pub(crate) fn prime_search(&self) -> Search {
        match self.family() {
            Family::OpenSsl => Search::Plain,
            Family::AwsLc => Search::Independent,
        }
    }

    /// Trial division by the first odd primes: `num_trial_division_primes` in AWS-LC's `prime.c`;
    /// `calc_trial_divisions` in `bn_prime.c` from 3.0 on, all 2048 primes of `bn_prime.h` before. The prime 2 is one
    /// of each count.
    fn sieve(&self, prime_bits: usize, search: Search) -> String {
        let primes = match prime_bits {
            ..=1024 if self.family() == Family::AwsLc => 512,
            _ if self.family() == Family::AwsLc => 1024,
            _ if self.version() < V3_0 => 2048,
            0..=512 => 64,
            513..=1024 => 128,
            1025..=2048 => 384,
            2049..=4096 => 1024,
            _ => 2048,
        };
        let candidates = match search {
            Search::Plain => "upward from a random start",
            Search::Independent => "independent and random",
            Search::Auxiliary => "in steps set by two auxiliary primes",
        };
        format!("the first {primes} primes; candidates {candidates}")
    }

    fn key_rounds(&self, bits: usize, search: Search) -> String {
        match search {
            // OpenSSL's pull request 19579, from 3.1 on: the rounds of FIPS 186-5 table B.1.
            Search::Auxiliary if self.version() >= V3_1 => rounds(if bits >= 3072 { 4 } else { 5 }),
            _ => self.prime_rounds(bits / 2),
        }
    }

    /// Not known for versions before 1.1.1, whose letters differ in it. `bn_mr_min_checks` in `bn_prime.c` from 3.0 on;
    /// `BN_prime_checks_for_size` in `bn.h` of 1.1.1.
    fn prime_rounds(&self, prime_bits: usize) -> String {
        if self.family() == Family::OpenSsl && self.version() < V1_1_1 {
            return "as many of Miller-Rabin as BN_prime_checks_for_size says, random bases".to_owned();
        }
        rounds(match prime_bits {
            ..=2048 if self.version() >= V3_0 => 64,
            _ if self.version() >= V3_0 => 128,
            // `BN_PRIME_CHECKS_BLINDED`, which covers the fewer that `BN_prime_checks_for_size` asks for.
            308.. if self.family() == Family::AwsLc => 16,
            3747.. => 3,
            1345.. => 4,
            476.. => 5,
            400.. => 6,
            347.. => 7,
            308.. => 8,
            _ => 27,
        })
    }
}

fn rounds(rounds: u32) -> String {
    format!("{rounds} of Miller-Rabin with random bases")
}
