//! The public key of an X.509 certificate. Nothing else of it is believed or looked at.

use der::{Decode, Encode};
use x509_cert::Certificate;

use super::{Usage, damaged, pkcs};
use crate::{Error, PublicKey};

pub(super) fn decode(der: &[u8]) -> Result<(PublicKey, Usage), Error> {
    let damaged = |error| damaged("certificate", error);
    let certificate = Certificate::from_der(der).map_err(damaged)?;
    let info = certificate
        .tbs_certificate()
        .subject_public_key_info()
        .to_der()
        .map_err(damaged)?;
    pkcs::spki(&info)
}
