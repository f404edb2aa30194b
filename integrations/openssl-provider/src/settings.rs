//! The provider's settings: its section of openssl.cnf.
//!
//! A value that is not understood is an error, whichever setting it is of: the provider is not loaded then, and
//! OpenSSL's queue of errors says why. A name that is not known cannot be seen from here, as OpenSSL answers for names
//! alone and lists none; `rsalab-openssl-check` reads the file and finds those.

use std::{ffi::CStr, sync::Arc, time::Duration};

use rsalab_rsa::PublicKey;

use crate::{
    failure::{Reason, Result},
    threads::Threads,
};

/// Yes or no: jobs are paused, so that their requests gather.
const ASYNC: &CStr = c"async";
/// After how many abandoned jobs none is paused any more.
const ABANDONED_JOBS: &CStr = c"abandoned-jobs";
/// Yes or no: threads outside jobs share passes.
const SHARE_THREADS: &CStr = c"share-threads";
/// Microseconds that a request waits for a full pass.
const SHARE_WAIT: &CStr = c"share-wait";
/// Bits of a public exponent at most, with a modulus of more than 3072 bits.
const EXPONENT_BITS: &CStr = c"public-exponent-bits";

/// How the operations of a library context go.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Settings {
    /// After how many abandoned jobs of the process no job is paused any more; with 0, none ever is.
    pub(crate) abandoned_jobs: usize,
    /// None where each thread computes for itself.
    pub(crate) sharing: Option<Arc<Threads>>,
    /// Bits of a public exponent at most, where the modulus is longer than [`SHORT`].
    exponent_bits: usize,
}

/// Bits of a modulus up to which public exponents have any length (`OPENSSL_RSA_SMALL_MODULUS_BITS`).
const SHORT: usize = 3072;
/// Bits of a public exponent that OpenSSL takes above that (`OPENSSL_RSA_MAX_PUBEXP_BITS`).
const EXPONENT: usize = 64;
/// Bits of the longest modulus, for OpenSSL (`OPENSSL_RSA_MAX_MODULUS_BITS`) as for us.
const LONGEST: u64 = 16384;
/// Microseconds that a request waits for others at most.
const LONGEST_WAIT: u64 = 1_000_000;

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            abandoned_jobs: 1024,
            sharing: None,
            exponent_bits: EXPONENT,
        }
    }
}

impl Settings {
    /// Of what the section says of each name.
    ///
    /// # Errors
    ///
    /// If a value is not understood. It is not repeated: a line of another section, with a password, may have come
    /// here.
    pub(crate) fn read<'a>(value: impl Fn(&CStr) -> Option<&'a str>) -> Result<Settings> {
        let value = |name: &'static CStr| value(name).map(|text| (name, text.trim()));
        let mut settings = Settings::default();
        if let Some(jobs) = value(ABANDONED_JOBS) {
            settings.abandoned_jobs = number(jobs, 0, u64::from(u32::MAX))? as usize;
        }
        if let Some(pauses) = value(ASYNC)
            && !yes_or_no(pauses)?
        {
            settings.abandoned_jobs = 0;
        }
        let wait = match value(SHARE_WAIT) {
            Some(micros) => Some(Duration::from_micros(number(micros, 0, LONGEST_WAIT)?)),
            None => None,
        };
        let shares = match value(SHARE_THREADS) {
            Some(shares) => yes_or_no(shares)?,
            None => false,
        };
        if shares || wait.is_some() {
            settings.sharing = Some(Arc::new(Threads::new(wait.unwrap_or_default())?));
        }
        if let Some(bits) = value(EXPONENT_BITS) {
            settings.exponent_bits = number(bits, 2, LONGEST)? as usize;
        }
        Ok(settings)
    }

    /// Refuses a public key whose operations take longer than those of keys of its size do: whoever sends one chooses
    /// our work.
    pub(crate) fn bound(&self, key: &PublicKey) -> Result<()> {
        let zeros = key.e().iter().take_while(|byte| **byte == 0).count();
        let e = &key.e()[zeros..];
        let bits = 8 * e.len() - e.first().map_or(0, |top| top.leading_zeros() as usize);
        match key.bits() > SHORT && bits > self.exponent_bits {
            true => Err(Reason::BadExponent.because(format!(
                "it has {bits} bits, and {} at most are taken with a modulus of more than {SHORT} bits",
                self.exponent_bits
            ))),
            false => Ok(()),
        }
    }
}

type Value<'a> = (&'static CStr, &'a str);

fn number((name, text): Value<'_>, least: u64, most: u64) -> Result<u64> {
    let number = text.parse().ok();
    let number = number.filter(|number| (least..=most).contains(number));
    number.ok_or_else(|| {
        let name = name.to_string_lossy();
        format!("the setting {name} is a number from {least} to {most}, and something else was given").into()
    })
}

fn yes_or_no((name, text): Value<'_>) -> Result<bool> {
    match text {
        "yes" | "on" | "1" | "true" => Ok(true),
        "no" | "off" | "0" | "false" => Ok(false),
        _ => Err(format!(
            "the setting {} is yes or no, and something else was given",
            name.to_string_lossy()
        )
        .into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(lines: &[(&CStr, &'static str)]) -> Result<Settings> {
        let line = |name: &CStr| lines.iter().find(|line| line.0 == name);
        Settings::read(|name| Some(line(name)?.1))
    }

    #[test]
    fn each_setting_takes_what_it_says_and_nothing_else() {
        assert_eq!(read(&[]), Ok(Settings::default()));
        let all = [
            (ABANDONED_JOBS, " 7 "),
            (ASYNC, "yes"),
            (SHARE_WAIT, "100"),
            (SHARE_THREADS, "on"),
            (EXPONENT_BITS, "4096"),
        ];
        let settings = read(&all).unwrap();
        let wait = Duration::from_micros(100);
        assert_eq!(settings.abandoned_jobs, 7);
        assert_eq!(settings.sharing, Some(Arc::new(Threads::new(wait).unwrap())));
        assert_eq!(settings.exponent_bits, 4096);
        assert_eq!(read(&[(ASYNC, "off")]).unwrap().abandoned_jobs, 0);
        assert_eq!(read(&[(SHARE_THREADS, "no")]).unwrap().sharing, None);
        let names = [ABANDONED_JOBS, ASYNC, EXPONENT_BITS, SHARE_THREADS, SHARE_WAIT];
        let check = include_str!("../rsalab-openssl-check");
        let known = check.lines().find(|line| line.starts_with("settings=")).unwrap();
        assert_eq!(known.split(' ').count(), names.len());
        for name in names {
            assert!(known.contains(name.to_str().unwrap()), "{known}");
            for wrong in ["maybe", "-5", "lots", "", "1e3", "99999999999999999999"] {
                let name_of_it = name.to_str().unwrap();
                let said = read(&[(name, wrong)]).unwrap_err().text;
                assert!(said.contains(name_of_it), "{name_of_it} = {wrong}: {said}");
                assert!(wrong.len() < 4 || !said.contains(wrong), "{said}");
            }
        }
    }

    #[test]
    fn long_exponents_are_bounded_above_3072_bits_only() {
        let key = |bits: usize, e_bits: usize| {
            let (mut n, mut e) = (vec![0xff; bits / 8], vec![0; bits / 8]);
            n[bits / 8 - 1] = 0xfd;
            let top = e.len() - 1 - (e_bits - 1) / 8;
            e[top] |= 1 << ((e_bits - 1) % 8);
            e[bits / 8 - 1] |= 1;
            PublicKey::new(&n, &e).unwrap()
        };
        let settings = Settings::default();
        for (bits, e, is_taken) in [
            (3072, 3071, true),
            (3080, 64, true),
            (3080, 65, false),
            (16384, 17, true),
            (16384, 16383, false),
        ] {
            let bound = settings.bound(&key(bits, e));
            assert_eq!(bound.is_ok(), is_taken, "{bits} bits, exponent of {e}");
        }
        let more = read(&[(EXPONENT_BITS, "100")]).unwrap();
        assert_eq!(more.bound(&key(4096, 100)), Ok(()));
        assert!(more.bound(&key(4096, 101)).is_err());
    }
}
