//! Inputs that fuzzing begins with: one of each kind, small.

use std::sync::OnceLock;

use rsalab_rsa::{
    CpuBackend, PrivateKey,
    format::{
        Encoding, PrivateFormat, PublicFormat, Usage, encode_encrypted, encode_private, encode_public, jwk, openssh,
    },
    generate::{DEFAULT_EXPONENT, generate_strict},
    random::{InsecureStudySeed, SystemRng},
};
use rsalab_sealed::{Recipient, armor};
use rsalab_text::{Threads, container};

/// Bytes of [`key`]'s modulus.
pub(crate) const KEY_LEN: usize = 128;

/// A key that is the same each time: found cases stay cases.
pub(crate) fn key() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| of_bits(8 * KEY_LEN, 0))
}

fn of_bits(bits: usize, stream: u64) -> PrivateKey {
    let mut rng = InsecureStudySeed::new([0x66; 32]).stream(stream);
    generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key
}

/// A shorter one: parsers see more of it in less time.
fn short() -> &'static PrivateKey {
    static KEY: OnceLock<PrivateKey> = OnceLock::new();
    KEY.get_or_init(|| of_bits(512, 1))
}

fn private_text() -> Vec<u8> {
    jwk::private(short(), &Default::default(), &Default::default())
        .as_bytes()
        .to_vec()
}

fn public_text() -> Vec<u8> {
    jwk::public(short().public(), &Default::default(), &Default::default()).into_bytes()
}

pub(crate) fn private_keys() -> Vec<Vec<u8>> {
    let mut seeds = vec![private_text(), b"-----BEGIN PRIVATE KEY-----\n".to_vec()];
    for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
        for encoding in [Encoding::Pem, Encoding::Der] {
            seeds.push(encode_private(short(), format, encoding).to_vec());
        }
    }
    let text = openssh::private(short(), "somebody").expect("two primes");
    seeds.push(text.as_bytes().to_vec());
    seeds
}

pub(crate) fn public_keys() -> Vec<Vec<u8>> {
    let key = short().public();
    let mut seeds = vec![public_text(), openssh::public(key, "somebody").into_bytes()];
    for format in [PublicFormat::Pkcs1, PublicFormat::Spki] {
        for encoding in [Encoding::Pem, Encoding::Der] {
            seeds.push(encode_public(key, format, encoding));
        }
    }
    seeds.push(certificate());
    seeds
}

/// The skeleton of an X.509 certificate (RFC 5280, section 4.1), signed by nobody.
fn certificate() -> Vec<u8> {
    let spki = encode_public(short().public(), PublicFormat::Spki, Encoding::Der);
    let algorithm = der_of(0x30, &[0x06, 9, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 1, 1, 11, 5, 0]);
    let time = der_of(0x17, b"260101000000Z");
    let key_usage = der_of(
        0x30,
        &[&[0x06, 3, 0x55, 0x1d, 0x0f, 0x04][..], &[4, 3, 2, 5, 0xa0]].concat(),
    );
    let body = [
        der_of(0xa0, &[2, 1, 2]),
        vec![2, 1, 1],
        algorithm.clone(),
        der_of(0x30, &[]),
        der_of(0x30, &[time.clone(), time].concat()),
        der_of(0x30, &[]),
        spki,
        der_of(0xa3, &der_of(0x30, &key_usage)),
    ];
    let signature = der_of(0x03, &[&[0][..], &[0x5a; 64]].concat());
    der_of(0x30, &[der_of(0x30, &body.concat()), algorithm, signature].concat())
}

/// A value of DER.
fn der_of(tag: u8, content: &[u8]) -> Vec<u8> {
    let length = match content.len() {
        len @ ..128 => vec![len as u8],
        len @ ..256 => vec![0x81, len as u8],
        len => vec![0x82, (len >> 8) as u8, len as u8],
    };
    [vec![tag], length, content.to_vec()].concat()
}

pub(crate) fn key_sets() -> Vec<Vec<u8>> {
    let (private, public) = (private_text(), public_text());
    let line = openssh::public(short().public(), "somebody");
    let pem = encode_private(short(), PrivateFormat::Pkcs8, Encoding::Pem);
    let pem_public = encode_public(short().public(), PublicFormat::Spki, Encoding::Pem);
    vec![
        [b"{\"keys\":[", &private[..], b",", &public, b"]}"].concat(),
        format!("# comment\n{line}\nhost.example {line}\n").into_bytes(),
        [&pem[..], &pem_public].concat(),
    ]
}

pub(crate) fn encrypted_keys() -> Vec<Vec<u8>> {
    [Encoding::Pem, Encoding::Der]
        .map(|encoding| {
            encode_encrypted(short(), &Usage::Any, b"password", encoding, &mut SystemRng)
                .expect("there is randomness")
                .to_vec()
        })
        .into()
}

pub(crate) fn der() -> Vec<Vec<u8>> {
    let mut seeds = vec![certificate()];
    for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
        seeds.push(encode_private(short(), format, Encoding::Der).to_vec());
    }
    for format in [PublicFormat::Pkcs1, PublicFormat::Spki] {
        seeds.push(encode_public(short().public(), format, Encoding::Der));
    }
    seeds
}

/// A length, a modulus, and blocks; or a length, an exponent and a modulus.
pub(crate) fn numbers() -> Vec<Vec<u8>> {
    let n = short().public().n();
    let block = [&[0][..], &vec![0x5a; n.len() - 1]].concat();
    vec![
        [&[n.len() as u8][..], n, &block, &block].concat(),
        [&[n.len() as u8][..], n, &block.repeat(9)].concat(),
        [&[64][..], &[0xff; 64], &[0xff; 63], &[0xfe]].concat(),
        [&[3, 1, 0, 1][..], n].concat(),
        [&[0x7f; KEY_LEN][..], &[0; KEY_LEN], &[1; KEY_LEN]].concat(),
    ]
}

/// Encodings as they come out of a power.
pub(crate) fn encodings() -> Vec<Vec<u8>> {
    let pkcs1 = [&[0, 2][..], &[0x5a; 20], &[0], b"a message"].concat();
    let signed = [&[0, 1][..], &[0xff; KEY_LEN - 54], &[0, 0x30, 0x31]].concat();
    vec![
        pkcs1,
        signed,
        vec![0; KEY_LEN],
        vec![0xff; KEY_LEN],
        vec![0x5a; KEY_LEN],
    ]
}

pub(crate) fn plans() -> Vec<Vec<u8>> {
    let text = |text: &str| text.as_bytes().to_vec();
    vec![
        text("[[grid]]\nops = [\"private\"]\nbits = [1024, 2048]\nengines = \"present\"\nthreads = [1, \"logical\"]\n"),
        text(
            "title = \"t\"\nseed = \"00\"\n[measure]\nseconds = 1.0\n[[grid]]\nops = [\"keygen\"]\nbits = [512]\nprimes = [2, 3]\n",
        ),
        text("[[grid]]\nops = [\"text_encrypt\"]\nbits = [1024]\nmessage = { bytes = 1000 }\nsymbols = [10]\n"),
    ]
}

pub(crate) fn reports() -> Vec<Vec<u8>> {
    vec![
        b"{}".to_vec(),
        b"{\"figures\":[],\"groups\":[]}".to_vec(),
        vec![0x1f, 0x8b, 8, 0],
    ]
}

pub(crate) fn part_manifests() -> Vec<Vec<u8>> {
    let seed = r#"{"rsalab_part":1,"part":"1/3","program":"0.1.0","machine":"m","seed":null,"bytes":0,"sha256":"00"}"#;
    vec![seed.as_bytes().to_vec()]
}

pub(crate) fn worker_lines() -> Vec<Vec<u8>> {
    let job = r#"{"op":"private","bits":1024,"threads":1,"batch":1,"mode":"safe"}"#;
    [
        r#"{"request":"hello","protocol":1}"#.to_owned(),
        format!(r#"{{"request":"supports","job":{job}}}"#),
        r#"{"request":"outputs"}"#.to_owned(),
        r#"{"request":"block","plan":{"seconds":0.1,"samples":3}}"#.to_owned(),
        "{\"request\":\"release\"}\n{\"request\":\"quit\"}\n".to_owned(),
        r#"{"answer":"hello","protocol":1,"pid":7,"engine":{"name":"own","version":"1"}}"#.to_owned(),
        r#"{"answer":"error","kind":"key","message":"m"}"#.to_owned(),
    ]
    .map(String::into_bytes)
    .into()
}

pub(crate) fn text_containers() -> Vec<Vec<u8>> {
    let encrypt = |text: &[u8]| {
        let threads = Threads::unpinned(1);
        container::encrypt(&CpuBackend::auto(), key().public(), Some(10), text, threads)
            .expect("it fits")
            .output
            .to_vec()
    };
    vec![encrypt(b""), encrypt(b"a text of more than a block of ten")]
}

pub(crate) fn sealed_files() -> Vec<Vec<u8>> {
    let recipients = [Recipient::new(key().public()).expect("it is long enough")];
    let seal = |message: &[u8]| {
        let mut file = Vec::new();
        rsalab_sealed::encrypt(&recipients, message, &mut file, 1).expect("memory");
        file
    };
    let file = seal(b"a message");
    let mut armored = armor::Writer::new(Vec::new());
    std::io::Write::write_all(&mut armored, &file).expect("memory");
    let armored = armored.finish().expect("memory");
    vec![file, armored, seal(b"")]
}

pub(crate) fn audits() -> Vec<Vec<u8>> {
    let n = short().public().n();
    let digits: String = n.iter().map(|byte| format!("{byte:02x}")).collect();
    let line = openssh::public(short().public(), "somebody");
    let mut seeds = [private_keys(), public_keys(), key_sets()].concat();
    seeds.extend([
        format!("Modulus={digits}\n{digits}\n").into_bytes(),
        format!("id,modulus\n1,{digits}\n2,\"{digits}\"\n").into_bytes(),
        format!("host.example,10.0.0.1 {line}\n@revoked * {line}\n").into_bytes(),
        b"example. IN TXT ( \"v=DKIM1; p=MFww\"\n \"DQYJ\" )\n".to_vec(),
        b"example. 3600 IN DNSKEY 256 3 8 (\nAwEAAQ== )\n".to_vec(),
        b"{\"rsalab_keys\":1,\"bits\":2048}\n{\"number\":1,\"file\":\"a.pem\",\"sha256\":\"00\"}\n".to_vec(),
    ]);
    seeds
}

pub(crate) fn databases() -> Vec<Vec<u8>> {
    let header = [b"SQLite format 3\0".as_slice(), &[16, 0, 1, 1, 0, 64, 32, 32], &[0; 76]].concat();
    vec![header, b"not a database".to_vec()]
}
