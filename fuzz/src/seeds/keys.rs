//! Keys in every format that is read, in some that are not, and broken ones.

use rsalab_rsa::{
    format::{
        Annotations, Encoding, PrivateFormat, PublicFormat, Restrictions, Usage, encode_private, encode_private_for,
        encode_public, encode_public_for, jwk, openssh,
    },
    hash::Hash,
    scheme::{Oaep, Pss, SaltLen},
};

use super::{
    base64,
    certificates::{certificate, certificates, request, revoked},
    der_of, key, sequence, short, texts, three_primes,
};

/// Uses that a key may be restricted to.
fn usages() -> Vec<Usage> {
    let salted = |bytes| Pss {
        salt_len: SaltLen::Bytes(bytes),
        ..Pss::new(Hash::Sha256)
    };
    let oaep = Oaep {
        label: b"a label".to_vec(),
        mgf_hash: Hash::Sha1,
        ..Oaep::new(Hash::Sha384)
    };
    vec![
        Usage::Pss(None),
        Usage::Pss(Some(salted(20))),
        Usage::Pss(Some(Pss {
            mgf_hash: Hash::Sha512_256,
            ..salted(300)
        })),
        Usage::Pss(Some(Pss {
            salt_len: SaltLen::Bytes(20),
            ..Pss::new(Hash::Sha1)
        })),
        Usage::Pss(Some(Pss {
            salt_len: SaltLen::Bytes(32),
            ..Pss::new(Hash::Shake128)
        })),
        Usage::Oaep(None),
        Usage::Oaep(Some(oaep)),
        Usage::Oaep(Some(Oaep::new(Hash::Sha1))),
    ]
}

/// Structures of DER that are private keys, or almost.
fn private_structures() -> Vec<Vec<u8>> {
    let mut all = Vec::new();
    for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
        all.push(encode_private(short(), format, Encoding::Der).to_vec());
    }
    for usage in usages() {
        let written = encode_private_for(short(), &usage, PrivateFormat::Pkcs8, Encoding::Der);
        all.extend(written.ok().map(|der| der.to_vec()));
    }
    all.push(encode_private(&three_primes(), PrivateFormat::Pkcs1, Encoding::Der).to_vec());
    // Without its primes, as programs write it that do not know them.
    let key = short();
    let integer = |bytes: &[u8]| der_of(2, &[&[0][..], bytes].concat());
    let number = |bytes: &[u8]| {
        let zeros = bytes.iter().take_while(|&&byte| byte == 0).count();
        let bytes = &bytes[zeros..];
        if bytes[0] < 0x80 {
            der_of(2, bytes)
        } else {
            integer(bytes)
        }
    };
    let (n, e, d) = (number(key.public().n()), number(key.public().e()), number(key.d()));
    let zero: &[u8] = &[2, 1, 0];
    all.push(sequence(&[zero, &n, &e, &d, zero, zero, zero, zero, zero]));
    // A negative number, and one that is too long.
    let negative = der_of(2, &[0x80; 64]);
    all.push(sequence(&[zero, &n, &e, &negative, zero, zero, zero, zero, zero]));
    all.push(sequence(&[zero, &negative, &e, &d, zero, zero, zero, zero, zero]));
    all.push(sequence(&[
        zero,
        &integer(&[0xff; 2100]),
        &e,
        &d,
        zero,
        zero,
        zero,
        zero,
        zero,
    ]));
    // With attributes, in and out of order.
    let algorithm: &[u8] = &[0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0];
    let inner = der_of(4, &encode_private(key, PrivateFormat::Pkcs1, Encoding::Der));
    let attribute = |last: u8| {
        sequence(&[
            &[6, 3, 0x55, 0x1d, last],
            &der_of(0x31, &[&[3, 2, 5, 0xa0][..]].concat()),
        ])
    };
    let attributes = der_of(0xa0, &[attribute(15), attribute(3)].concat());
    all.push(sequence(&[zero, algorithm, &inner, &attributes]));
    all.push(sequence(&[&[2, 1, 1], algorithm, &inner, &der_of(0x81, &[0, 1, 2])]));
    // Other algorithms, and parameters that an algorithm does not take.
    for identifier in [
        &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 4, 1, 7][..],
        &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1],
        &[6, 4, 0x55, 8, 1, 1, 2, 2, 2, 0],
        &[6, 4, 0x55, 8, 1, 1, 4, 1, 0],
        &[6, 7, 0x2a, 0x86, 0x48, 0xce, 0x3d, 2, 1],
        &[6, 3, 0x2b, 0x65, 0x70],
        &[6, 7, 0x2a, 0x86, 0x48, 0xce, 0x38, 4, 1],
        &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 3, 1],
        &[6, 3, 0x2a, 3, 4],
        &[6, 8, 0x2b, 6, 1, 5, 5, 7, 6, 30, 5, 0],
        &[
            6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 10, 0x30, 5, 0xa3, 3, 2, 1, 2,
        ],
        // A mask of another algorithm, a label from elsewhere, and SHAKE128, which has no parameters for OAEP.
        &[
            6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 10, 0x30, 9, 0xa1, 7, 0x30, 5, 6, 3, 0x2a, 3, 4,
        ],
        &[
            6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 10, 0x30, 9, 0xa0, 7, 0x30, 5, 6, 3, 0x2a, 3, 4,
        ],
        &[
            6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 7, 0x30, 9, 0xa2, 7, 0x30, 5, 6, 3, 0x2a, 3, 4,
        ],
        &[
            6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 7, 0x30, 15, 0xa0, 13, 0x30, 11, 6, 9, 0x60, 0x86, 0x48, 1,
            0x65, 3, 4, 2, 11,
        ],
        &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 10, 0x30, 0],
        &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 10, 5, 0],
        &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 7, 0x30, 0],
        &[6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 7, 5, 0],
    ] {
        all.push(sequence(&[zero, &der_of(0x30, identifier), &inner]));
    }
    // Structures of other files.
    all.extend([
        sequence(&[zero, zero, zero, zero, zero, zero]),
        sequence(&[&[2, 1, 1], &[4, 1, 7]]),
        sequence(&[&[2, 1, 3], &[0x30, 0]]),
        sequence(&[&[2, 1, 3], &[0x30, 0], &[0x30, 0]]),
        sequence(&[&[6, 3, 0x2a, 3, 4], &[0xa0, 0]]),
        sequence(&[&[5, 0]]),
        vec![0x30, 0x80, 2, 1, 0, 0, 0],
        vec![0x30, 0x81, 5, 2, 1, 0, 2, 1],
        vec![0x30, 0x85, 1, 0, 0, 0, 0],
        vec![0x30, 0x82, 0xff, 0xff, 2, 1, 0],
        [sequence(&[&[2, 1, 1], &[2, 1, 1]]), vec![7]].concat(),
        vec![0x30, 0xff],
    ]);
    all
}

fn public_structures() -> Vec<Vec<u8>> {
    let key = short().public();
    let mut all = Vec::new();
    for format in [PublicFormat::Pkcs1, PublicFormat::Spki] {
        all.push(encode_public(key, format, Encoding::Der));
    }
    for usage in usages() {
        all.extend(encode_public_for(key, &usage, PublicFormat::Spki, Encoding::Der));
    }
    let negative = der_of(2, &[0x80; 64]);
    all.push(sequence(&[&negative, &[2, 1, 3]]));
    let algorithm: &[u8] = &[0x30, 13, 6, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 13, 1, 1, 1, 5, 0];
    all.push(sequence(&[algorithm, &[3, 3, 4, 0, 0x10]]));
    all.extend(certificates());
    all
}

fn pem(label: &str, der: &[u8]) -> Vec<u8> {
    let base64 = base64(der);
    let lines: Vec<&str> = base64
        .as_bytes()
        .chunks(64)
        .map(|line| str::from_utf8(line).expect("it is ASCII"))
        .collect();
    format!("-----BEGIN {label}-----\n{}\n-----END {label}-----\n", lines.join("\n")).into_bytes()
}

/// Texts with PEM, right and wrong.
fn armoured() -> Vec<Vec<u8>> {
    let key = encode_private(short(), PrivateFormat::Pkcs8, Encoding::Der).to_vec();
    let public = encode_public(short().public(), PublicFormat::Spki, Encoding::Der);
    let text = String::from_utf8(pem("PRIVATE KEY", &key)).expect("it is ASCII");
    let mut all = vec![
        text.replace('\n', "\r\n").into_bytes(),
        text.replace('\n', " ").into_bytes(),
        text.replace('\n', "\\n").into_bytes(),
        format!("KEY=\"{text}\"").into_bytes(),
        format!("key: {text}").into_bytes(),
        format!("# comment\n  {}", text.replace('\n', "\n  ")).into_bytes(),
        text.replace("-----END", "-----EMD").into_bytes(),
        text.replace("KEY-----\n", "KEY\n").into_bytes(),
        text.replace("M", "!").into_bytes(),
        format!("INSECURE: made from a seed, for tests\n{text}").into_bytes(),
        [text.as_bytes(), text.as_bytes()].concat(),
        [pem("CERTIFICATE", &certificate(true, &[])), text.clone().into_bytes()].concat(),
        [
            pem("CERTIFICATE", &certificate(true, &[])),
            pem("CERTIFICATE", &certificate(true, &[])),
        ]
        .concat(),
        [pem("PGP MESSAGE", b"x"), pem("PUBLIC KEY", &public)].concat(),
        b"-----BEGIN PRIVATE KEY-----\n".to_vec(),
        b"-----BEGIN PRIVATE KEY\n".to_vec(),
        pem("CERTIFICATE REQUEST", &request(&[0xa0, 0])),
        pem("CERTIFICATE REQUEST", &public),
        pem("RSA PRIVATE KEY", &public),
        pem("X509 CRL", &revoked()),
        b"-----BEGIN PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END PRIVATE KEY-----\n".to_vec(),
        b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\n\nAAAA\n-----END RSA PRIVATE KEY-----\n".to_vec(),
        b"-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,CLEAR\n\nAAAA\n-----END RSA PRIVATE KEY-----\n".to_vec(),
    ];
    for label in [
        "EC PRIVATE KEY",
        "DSA PRIVATE KEY",
        "EC PARAMETERS",
        "TRUSTED CERTIFICATE",
        "PKCS7",
        "PGP PUBLIC KEY BLOCK",
        "SOMETHING",
        "OPENSSH PRIVATE KEY",
        "ENCRYPTED PRIVATE KEY",
    ] {
        all.push(pem(label, &[0x30, 0]));
    }
    all
}

/// Other texts that hold a key, or seem to.
fn wrapped() -> Vec<Vec<u8>> {
    let der = encode_private(short(), PrivateFormat::Pkcs8, Encoding::Der).to_vec();
    let text = String::from_utf8(pem("PRIVATE KEY", &der)).expect("it is ASCII");
    let wide = |order: fn(u16) -> [u8; 2]| text.encode_utf16().flat_map(order).collect::<Vec<u8>>();
    let account = serde_json::json!({ "type": "service_account", "private_key": text });
    let mut all = vec![
        [&b"\xef\xbb\xbf"[..], text.as_bytes()].concat(),
        [vec![0xff, 0xfe], wide(u16::to_le_bytes)].concat(),
        [vec![0xfe, 0xff], wide(u16::to_be_bytes)].concat(),
        wide(u16::to_le_bytes),
        wide(u16::to_be_bytes),
        account.to_string().into_bytes(),
        base64(&der).into_bytes(),
        base64(&der).as_bytes()[..101].to_vec(),
        der.iter()
            .map(|byte| format!("{byte:02x}"))
            .collect::<String>()
            .into_bytes(),
    ];
    all.extend(texts(&[
        "---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n---- END SSH2 PUBLIC KEY ----\n",
        "PuTTY-User-Key-File-3: ssh-rsa\n",
        "<RSAKeyValue><Modulus>AA==</Modulus></RSAKeyValue>",
        "a sentence",
        " \n",
    ]));
    all
}

/// JSON Web Keys.
fn web_keys() -> Vec<Vec<u8>> {
    let plain = Default::default();
    let private = jwk::private(short(), &Restrictions::default(), &Annotations::default()).to_string();
    let public = jwk::public(short().public(), &Restrictions::default(), &plain);
    let with = |members: &str| public.replacen('{', &format!("{{{members},"), 1).into_bytes();
    let mut all = vec![
        private.clone().into_bytes(),
        public.clone().into_bytes(),
        with("\"kid\":\"a name\",\"use\":\"sig\",\"key_ops\":[\"verify\"],\"alg\":\"PS256\""),
        with("\"use\":\"enc\",\"alg\":\"RSA-OAEP-256\""),
        with("\"alg\":\"RS1\",\"x5t\":\"AAAA\""),
        with("\"comment\":\"INSECURE: made from a seed, for tests\""),
        with("\"comment\":\"another\""),
        with("\"use\":7"),
        with("\"key_ops\":\"sign\""),
        with("\"kid\":\"a\",\"kid\":\"b\""),
        with("\"x\":1,\"x\":2"),
        with(&format!("\"kid\":\"{}\"", "k".repeat(129))),
        with(&format!("\"use\":\"{}\"", "u".repeat(65))),
        with("\"oth\":[]"),
        with("\"p\":\"AQ\""),
        private.replacen("\"d\":", "\"x\":", 1).into_bytes(),
        private.replacen("\"q\":", "\"y\":", 1).into_bytes(),
        private.replacen("RSA", "\\u0052SA", 1).into_bytes(),
        private.replacen("\"n\":\"", "\"n\":\"=", 1).into_bytes(),
        private
            .replacen('}', ",\"oth\":[{\"r\":\"Aw\",\"d\":\"AQ\",\"t\":\"AQ\"}]}", 1)
            .into_bytes(),
        public.replacen("\"n\":\"", "\"n\":\"\\u0041", 1).into_bytes(),
        public.replacen("\"e\":", "\"f\":", 1).into_bytes(),
        public.replacen("RSA", "EC", 1).into_bytes(),
    ];
    // Without its primes.
    if let Ok(serde_json::Value::Object(mut members)) = serde_json::from_str(&private) {
        for name in ["p", "q", "dp", "dq", "qi"] {
            members.remove(name);
        }
        all.push(serde_json::Value::Object(members).to_string().into_bytes());
    }
    all.extend(texts(&[
        "{}",
        "{\"kty\":null}",
        "[]",
        "{\"keys\":[]}",
        "{\"kty\":7}",
        "{\"kty\":\"RSA\"",
        "{\"a\":1}\n{\"b\"",
        "\"x\"",
    ]));
    all
}

/// Keys as OpenSSH has them.
fn of_openssh() -> Vec<Vec<u8>> {
    let line = openssh::public(short().public(), "somebody");
    let body = line.split(' ').nth(1).expect("a line has three parts").to_owned();
    let private = openssh::private(short(), "somebody").expect("two primes").to_string();
    let mut all = vec![
        private.clone().into_bytes(),
        openssh::private(key(), "")
            .expect("two primes")
            .to_string()
            .into_bytes(),
        private.replacen("AAAA", "AAAB", 1).into_bytes(),
        line.clone().into_bytes(),
        format!("from=\"a,b c\",command=\"x \\\" y\",No-Pty {line}").into_bytes(),
        format!("nonsense,cert-authority\t{line}\n").into_bytes(),
        format!("# comment\n{line}\n\n{line} again\n").into_bytes(),
        format!("ssh-rsa {}", &body[..20]).into_bytes(),
        format!("ssh-rsa {}x", &body[..40]).into_bytes(),
        format!("garbage\n{line}\n-----BEGIN PRIVATE KEY-----\n").into_bytes(),
        format!(
            "ssh-rsa {}",
            base64(&[&[0, 0, 0, 11][..], b"ssh-ed25519", &[0, 0, 0, 32], &[7; 32]].concat())
        )
        .into_bytes(),
    ];
    all.extend(texts(&[
        "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIJ somebody",
        "ssh-ed448 AAAA",
        "ssh-dss AAAA",
        "sk-ssh-ed25519@openssh.com AAAA",
        "sk-ecdsa-sha2-nistp256@openssh.com AAAA",
        "ssh-rsa-cert-v01@openssh.com AAAA",
        "ecdsa-sha2-nistp256 AAAA",
        "ssh-rsa \u{e4}\u{e4}",
        "ssh-rsa",
        "command=\"open ssh-rsa AAAA",
    ]));
    all
}

/// Private keys, and what is none.
pub fn private_keys() -> Vec<Vec<u8>> {
    let pems = [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8];
    let pems = pems.map(|format| encode_private(short(), format, Encoding::Pem).to_vec());
    let parts = [
        pems.to_vec(),
        private_structures(),
        armoured(),
        wrapped(),
        web_keys(),
        of_openssh(),
    ];
    parts.concat()
}

/// Public keys, and what is none.
pub fn public_keys() -> Vec<Vec<u8>> {
    let key = short().public();
    let pems = [PublicFormat::Pkcs1, PublicFormat::Spki];
    let pems = pems.map(|format| encode_public(key, format, Encoding::Pem));
    let parts = [pems.to_vec(), public_structures(), armoured(), web_keys(), of_openssh()];
    parts.concat()
}

/// Files with several keys.
pub fn key_sets() -> Vec<Vec<u8>> {
    let plain = Default::default();
    let private = jwk::private(short(), &Restrictions::default(), &Annotations::default()).to_string();
    let public = jwk::public(short().public(), &Restrictions::default(), &plain);
    let line = openssh::public(short().public(), "somebody");
    let private_pem = encode_private(short(), PrivateFormat::Pkcs8, Encoding::Pem).to_vec();
    let public_pem = encode_public(short().public(), PublicFormat::Spki, Encoding::Pem);
    let foreign = "{\"kty\":\"EC\",\"crv\":\"P-256\",\"x\":\"AA\",\"y\":\"AA\"}";
    let request_pem = pem("CERTIFICATE REQUEST", &request(&[0xa0, 0]));
    let certificate_pem = pem("CERTIFICATE", &certificate(true, &[]));
    let mut all = vec![
        format!("{{\"keys\":[{private},{public}]}}").into_bytes(),
        format!("{{\"keys\":[{public},{foreign},7,{{}}]}}").into_bytes(),
        format!("[{public},{private}]").into_bytes(),
        format!("{public}\n{foreign}\n\n{{\n").into_bytes(),
        format!("{} {public}", public.replace(',', ",\n")).into_bytes(),
        format!("# comment\n{line}\nhost.example {line}\nssh-ed25519 AAAA x\nnothing\n").into_bytes(),
        [
            &private_pem[..],
            &public_pem,
            b"text between\n",
            &request_pem,
            &certificate_pem,
        ]
        .concat(),
        [
            &public_pem[..],
            b"KEY=",
            &public_pem,
            b"-----BEGIN EC PRIVATE KEY-----\n",
        ]
        .concat(),
        request(&[0xa0, 0]),
        openssh::private(short(), "somebody")
            .expect("two primes")
            .to_string()
            .into_bytes(),
    ];
    all.extend(der());
    // Keys whose numbers do not belong together: their public halves are there.
    for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
        let mut der = encode_private(short(), format, Encoding::Der).to_vec();
        *der.last_mut().expect("it is no empty key") ^= 1;
        let label = match format {
            PrivateFormat::Pkcs1 => "RSA PRIVATE KEY",
            PrivateFormat::Pkcs8 => "PRIVATE KEY",
        };
        all.extend([pem(label, &der), der]);
    }
    let openssh = openssh::private(key(), "").expect("two primes").to_string();
    all.push(openssh.replacen("AAAA", "AAAB", 1).into_bytes());
    all.extend(texts(&[
        "{\"keys\":7}",
        "{\"keys\":[]}",
        "[]",
        "ssh-ed25519 AAAA\nssh-dss AAAA\n",
        "-----BEGIN X-----\n",
    ]));
    all
}

/// Structures of DER alone.
pub fn der() -> Vec<Vec<u8>> {
    [private_structures(), public_structures()].concat()
}
