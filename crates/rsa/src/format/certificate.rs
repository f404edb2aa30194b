//! The public key of an X.509 certificate, with its key usage. Nothing else of it is believed or looked at.

use der::{Decode, Encode};
use x509_cert::{Certificate, ext::pkix::KeyUsage};

use super::content::damaged;
use super::input::{Limits, Usage};
use super::pkcs::spki;
use crate::{PublicKey, Result};

pub(super) fn decode(der: &[u8], limits: Limits) -> Result<(PublicKey, Usage, Option<KeyUsage>)> {
    let damaged = |error| damaged("certificate", error);
    let certificate = Certificate::from_der(der).map_err(damaged)?;
    let info = certificate
        .tbs_certificate()
        .subject_public_key_info()
        .to_der()
        .map_err(damaged)?;
    let key_usage = certificate
        .tbs_certificate()
        .get_extension::<KeyUsage>()
        .map_err(damaged)?
        .map(|(_is_critical, usage)| usage);
    let (key, usage) = spki(&info, limits)?;
    Ok((key, usage, key_usage))
}
