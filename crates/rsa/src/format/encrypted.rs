//! PKCS#8 under a password: PBES2 (RFC 8018, section 6.2).

use der::{
    Decode, Reader, SliceReader,
    asn1::{AnyRef, ObjectIdentifier},
};
use pkcs8::{EncryptedPrivateKeyInfoRef, PrivateKeyInfoRef, pkcs5};
use rand_core::TryCryptoRng;
use spki::AlgorithmIdentifierRef;
use zeroize::Zeroizing;

use super::{
    content::{damaged, refused, unsupported},
    input::{Encoding, Limits, Usage},
    pkcs,
    refusal::in_brackets,
};
use crate::{Error, PrivateKey, Result};

/// The most iterations of PBKDF2, which take less than a second of one CPU: with the hashes of 64-bit words, and with the others.
/// Guides ask for 210,000 with SHA-512, and 1,300,000 with SHA-1 (OWASP, 2023).
const MOST_ITERATIONS_64: u32 = 1_000_000;
const MOST_ITERATIONS: u32 = 3_000_000;
/// The most memory of scrypt, 128 r (N + p) bytes: four times what OpenSSL writes, and twice what it reads unless told to.
const MOST_SCRYPT_BYTES: u64 = 64 << 20;
/// The most of scrypt's N r p, which takes less than a second of one CPU: 32 times what OpenSSL writes.
const MOST_SCRYPT_WORK: u64 = 1 << 22;

/// Writes a private key as PKCS#8 that takes a password to read: PBES2 with AES-256-CBC, and with scrypt at N = 2^14, r = 8,
/// p = 1, which takes 16 MiB and some tens of milliseconds a key on purpose, and no more because OpenSSL reads no more unless told to.
///
/// # Errors
///
/// [`Error::Randomness`] if there is none for the salt.
pub fn encode<R: TryCryptoRng>(
    key: &PrivateKey,
    usage: Usage,
    password: &[u8],
    encoding: Encoding,
    rng: &mut R,
) -> Result<Zeroizing<Vec<u8>>> {
    let plain = pkcs::pkcs8_der(key, usage)?;
    let encrypted = PrivateKeyInfoRef::from_der(&plain)
        .expect("it was encoded here")
        .encrypt_with_rng(rng, password)
        .map_err(Error::randomness)?;
    let der = Zeroizing::new(encrypted.as_bytes().to_vec());
    Ok(match encoding {
        Encoding::Der => der,
        Encoding::Pem => Zeroizing::new(pkcs::pem("ENCRYPTED PRIVATE KEY", &der)),
    })
}

/// Reads a private key with its password.
pub(super) fn decode(
    der: &[u8],
    password: Option<&[u8]>,
    limits: Limits,
) -> Result<(PrivateKey, Usage)> {
    let damaged = |error| damaged("encrypted private key", error);
    let algorithm = algorithm(der).map_err(damaged)?;
    if algorithm != pkcs5::pbes2::PBES2_OID {
        return Err(unsupported(format!(
            "this private key is encrypted in an old way{}, that protects little; encrypt it anew with \
             `openssl pkcs8 -topk8 -v2 aes-256-cbc -in FILE`",
            in_brackets(algorithm)
        )));
    }
    let info = EncryptedPrivateKeyInfoRef::from_der(der).map_err(damaged)?;
    check_cost(&info.encryption_algorithm)?;
    let password = password.ok_or(Error::PasswordMissing)?;
    let plain = info
        .encryption_algorithm
        .decrypt(password, info.encrypted_data.as_bytes())
        .map(Zeroizing::new)
        .map_err(|_| Error::PasswordWrong)?;
    // The padding of one wrong password in 256 is right by chance.
    if PrivateKeyInfoRef::from_der(&plain).is_err() {
        return Err(Error::PasswordWrong);
    }
    pkcs::pkcs8(&plain, limits)
}

/// What the key is encrypted by.
fn algorithm(der: &[u8]) -> der::Result<ObjectIdentifier> {
    let outer = AnyRef::from_der(der)?;
    let algorithm: AlgorithmIdentifierRef<'_> = SliceReader::new(outer.value())?.decode()?;
    Ok(algorithm.oid)
}

/// Refuses what the standards do not allow, and what would take minutes or gigabytes: the numbers come from the file.
fn check_cost(scheme: &pkcs5::EncryptionScheme) -> Result<()> {
    let pbes2 = scheme.pbes2().expect("the algorithm was looked at");
    if let Some(pbkdf2) = pbes2.kdf.pbkdf2() {
        let most = match pbkdf2.prf {
            pkcs5::pbes2::Pbkdf2Prf::HmacWithSha384 | pkcs5::pbes2::Pbkdf2Prf::HmacWithSha512 => {
                MOST_ITERATIONS_64
            }
            _ => MOST_ITERATIONS,
        };
        match pbkdf2.iteration_count {
            // RFC 8018, appendix A.2: INTEGER (1..MAX).
            0 => {
                return Err(refused(
                    "this private key asks for 0 iterations of PBKDF2; 1 is the least",
                ));
            }
            count if count > most => {
                return Err(unsupported(format!(
                    "this private key asks for {count} iterations of PBKDF2; rsalab does {most} at most with its hash"
                )));
            }
            _ => {}
        }
    }
    if let Some(scrypt) = pbes2.kdf.scrypt() {
        let n = scrypt.cost_parameter;
        let [r, p] = [scrypt.block_size, scrypt.parallelization].map(u64::from);
        // RFC 7914, section 2. The crate below takes the logarithm of N unasked.
        if n < 2 || !n.is_power_of_two() || r == 0 || p == 0 {
            return Err(refused(format!(
                "this private key asks for scrypt with N = {n}, r = {r}, p = {p}; N is a power of two above 1, and r and p are at least 1"
            )));
        }
        // Section 5 and 6: V takes 128 r N bytes, and B 128 r p.
        let bytes = n.saturating_add(p).saturating_mul(128 * r);
        let work = n.saturating_mul(r * p);
        if bytes > MOST_SCRYPT_BYTES || work > MOST_SCRYPT_WORK {
            return Err(unsupported(format!(
                "this private key asks for scrypt with N = {n}, r = {r}, p = {p}, which is more memory or time than rsalab gives"
            )));
        }
    }
    Ok(())
}
