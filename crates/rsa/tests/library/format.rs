//! Keys made by the `openssl` command, read and written back byte for byte, and files that are not keys of ours.

use std::{
    path::Path,
    process::{Command, Stdio},
};

use rsalab_rsa::{
    Error, PrivateKey,
    format::{
        Annotations, Encoding, MAX_FILE_LEN, PrivateFormat, PublicFormat, Restrictions, Usage, decode_private,
        decode_public, encode_encrypted, encode_private, encode_public, fingerprint, jwk, openssh, read,
    },
    generate::{DEFAULT_EXPONENT, Generation, PublicExponent, generate_strict},
    hash::Hash,
    random::InsecureStudySeed,
    scheme::SignatureScheme,
    signing::SigningKey,
};
use tempfile::TempDir;

/// OpenSSL's command line, in a directory of its own; none where the machine has no such command.
struct OpenSsl(TempDir);

impl OpenSsl {
    fn find() -> Option<Self> {
        if Command::new("openssl")
            .arg("version")
            .stdout(Stdio::null())
            .status()
            .is_err()
        {
            eprintln!("SKIPPED: there is no `openssl` command here, so keys were not exchanged with OpenSSL");
            return None;
        }
        Some(OpenSsl(tempfile::tempdir().expect("a temporary directory")))
    }

    fn run(&self, line: &str) {
        let output = Command::new("openssl")
            .args(line.split(' '))
            .current_dir(self.0.path())
            .output()
            .expect("openssl runs");
        assert!(
            output.status.success(),
            "openssl {line}: {}",
            String::from_utf8_lossy(&output.stderr)
        );
    }

    fn file(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).expect(name)
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        Path::new(self.0.path()).join(name)
    }
}

fn refusal(result: Result<impl Sized, Error>) -> String {
    match result {
        Ok(_) => panic!("was taken for a key"),
        Err(error) => error.to_string(),
    }
}

const FORMATS: [(PrivateFormat, Encoding, &str); 4] = [
    (PrivateFormat::Pkcs1, Encoding::Pem, "pkcs1.pem"),
    (PrivateFormat::Pkcs1, Encoding::Der, "pkcs1.der"),
    (PrivateFormat::Pkcs8, Encoding::Pem, "pkcs8.pem"),
    (PrivateFormat::Pkcs8, Encoding::Der, "pkcs8.der"),
];

const PUBLIC_FORMATS: [(PublicFormat, Encoding, &str); 4] = [
    (PublicFormat::Pkcs1, Encoding::Pem, "public-pkcs1.pem"),
    (PublicFormat::Pkcs1, Encoding::Der, "public-pkcs1.der"),
    (PublicFormat::Spki, Encoding::Pem, "spki.pem"),
    (PublicFormat::Spki, Encoding::Der, "spki.der"),
];

/// One key in all its files.
fn key_files(openssl: &OpenSsl, bits: usize, exponent: u64) {
    openssl.run(&format!(
        "genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:{bits} -pkeyopt rsa_keygen_pubexp:{exponent} -out pkcs8.pem"
    ));
    openssl.run("pkcs8 -topk8 -nocrypt -in pkcs8.pem -outform der -out pkcs8.der");
    openssl.run("rsa -traditional -in pkcs8.pem -out pkcs1.pem");
    openssl.run("rsa -traditional -in pkcs8.pem -outform der -out pkcs1.der");
    openssl.run("rsa -in pkcs8.pem -pubout -out spki.pem");
    openssl.run("rsa -in pkcs8.pem -pubout -outform der -out spki.der");
    openssl.run("rsa -in pkcs8.pem -RSAPublicKey_out -out public-pkcs1.pem");
    openssl.run("rsa -in pkcs8.pem -RSAPublicKey_out -outform der -out public-pkcs1.der");
}

#[test]
fn keys_of_openssl_come_back_byte_for_byte() {
    let Some(openssl) = OpenSsl::find() else {
        return;
    };
    for (bits, exponent) in [
        (512, 65537),
        (1024, 3),
        (1026, 65537),
        (2048, 65537),
        (2048, 4_294_967_297),
    ] {
        key_files(&openssl, bits, exponent);
        for (_, _, source) in FORMATS {
            let key = decode_private(&openssl.file(source)).unwrap_or_else(|error| panic!("{bits} {source}: {error}"));
            assert_eq!(key.bits(), bits);
            for (format, encoding, target) in FORMATS {
                let written = encode_private(&key, format, encoding);
                assert!(*written == openssl.file(target), "{bits}: {source} to {target}");
            }
        }
        let private = decode_private(&openssl.file("pkcs8.der")).unwrap();
        for (_, _, source) in PUBLIC_FORMATS {
            let key = decode_public(&openssl.file(source)).unwrap_or_else(|error| panic!("{bits} {source}: {error}"));
            assert_eq!(&key, private.public());
            for (format, encoding, target) in PUBLIC_FORMATS {
                assert!(
                    encode_public(&key, format, encoding) == openssl.file(target),
                    "{bits}: {source} to {target}"
                );
            }
        }
        for (_, _, source) in FORMATS {
            assert_eq!(&decode_public(&openssl.file(source)).unwrap(), private.public());
        }
        openssl.run("dgst -sha256 -binary -out fingerprint spki.der");
        assert_eq!(fingerprint(private.public()).as_slice(), openssl.file("fingerprint"));
    }
}

#[test]
fn keys_of_ours_pass_the_check_of_openssl() {
    let Some(openssl) = OpenSsl::find() else {
        return;
    };
    for bits in [512, 1024, 2048] {
        let mut rng = InsecureStudySeed::new([2; 32]).stream(0);
        let key = generate_strict(bits, DEFAULT_EXPONENT, &mut rng).expect("a key").key;
        for (format, encoding, name) in FORMATS {
            std::fs::write(openssl.path(name), encode_private(&key, format, encoding)).expect("writes");
            openssl.run(&format!("rsa -in {name} -check -noout"));
        }
    }
}

#[test]
fn text_around_a_key_and_other_line_lengths_are_read() {
    let Some(openssl) = OpenSsl::find() else {
        return;
    };
    key_files(&openssl, 512, 65537);
    let pem = String::from_utf8(openssl.file("pkcs8.pem")).unwrap();
    let der = openssl.file("pkcs8.der");
    let same = |bytes: &[u8]| {
        let key: PrivateKey = decode_private(bytes).expect("the same key");
        *encode_private(&key, PrivateFormat::Pkcs8, Encoding::Der) == der
    };
    assert!(same(pem.replace('\n', "\r\n").as_bytes()));
    assert!(same(format!("Private-Key: (512 bit)\n{pem}\n\n").as_bytes()));
    let lines: Vec<&str> = pem.lines().collect();
    let body = lines[1..lines.len() - 1].concat();
    assert!(same(
        format!("{}\n{body}\n{}", lines[0], lines[lines.len() - 1]).as_bytes()
    ));
}

#[test]
fn other_keys_and_files_are_named() {
    let Some(openssl) = OpenSsl::find() else {
        return;
    };
    key_files(&openssl, 1024, 65537);
    openssl.run("genpkey -quiet -algorithm EC -pkeyopt ec_paramgen_curve:P-256 -out ec.pem");
    openssl.run("ec -in ec.pem -out ec-sec1.pem");
    openssl.run("ec -in ec.pem -outform der -out ec-sec1.der");
    openssl.run("ec -in ec.pem -pubout -out ec-public.pem");
    openssl.run("ecparam -name P-256 -genkey -out ec-parameters.pem");
    openssl.run("genpkey -quiet -algorithm ED25519 -outform der -out ed25519.der");
    openssl.run("genpkey -quiet -algorithm RSA-PSS -pkeyopt rsa_keygen_bits:1024 -out pss.pem");
    openssl.run("pkcs8 -topk8 -in pkcs8.pem -passout pass:x -out encrypted.pem");
    openssl.run("pkcs8 -topk8 -in pkcs8.pem -passout pass:x -outform der -out encrypted.der");
    openssl.run("rsa -traditional -aes128 -in pkcs8.pem -passout pass:x -out encrypted-pkcs1.pem");
    openssl.run("req -x509 -new -key pkcs8.pem -subj /CN=x -out certificate.pem");
    openssl.run("req -x509 -new -key pkcs8.pem -subj /CN=x -outform der -out certificate.der");
    openssl.run("req -new -key pkcs8.pem -subj /CN=x -out request.pem");
    openssl.run("pkcs12 -export -inkey pkcs8.pem -in certificate.pem -passout pass:x -out bundle.p12");

    for (file, sentence) in [
        ("ec.pem", "this is an EC key"),
        ("ec-sec1.pem", "this is an EC key"),
        ("ec-sec1.der", "this is an EC key"),
        ("ec-parameters.pem", "this is an EC key"),
        ("ed25519.der", "this is an Ed25519 key"),
        ("pss.pem", "RSASSA-PSS only"),
        ("encrypted.pem", "this private key is encrypted"),
        ("encrypted.der", "this private key is encrypted"),
        ("encrypted-pkcs1.pem", "this private key is encrypted"),
        ("request.pem", "this is a certificate request"),
        ("bundle.p12", "PKCS#12"),
    ] {
        let bytes = openssl.file(file);
        for message in [refusal(decode_private(&bytes)), refusal(decode_public(&bytes))] {
            assert!(message.contains(sentence), "{file}: {message}");
        }
    }
    for file in ["certificate.pem", "certificate.der"] {
        let message = refusal(decode_private(&openssl.file(file)));
        assert!(message.contains("this is a certificate"), "{message}");
    }
    for (_, _, file) in PUBLIC_FORMATS {
        let message = refusal(decode_private(&openssl.file(file)));
        assert!(
            message.contains("this is a public key, but a private key is needed"),
            "{file}: {message}"
        );
    }
    let message = refusal(decode_private(&openssl.file("ec-public.pem")));
    assert!(message.contains("this is an EC key"), "{message}");

    let mut two = openssl.file("pkcs8.pem");
    two.extend(openssl.file("pkcs8.pem"));
    assert!(refusal(decode_private(&two)).contains("more than one PEM block"));
    let mut longer = openssl.file("pkcs8.der");
    longer.push(0);
    assert!(refusal(decode_private(&longer)).contains("goes on after the end"));

    let wrong_label = String::from_utf8(openssl.file("pkcs8.pem"))
        .unwrap()
        .replace("PRIVATE", "RSA PRIVATE");
    let message = refusal(decode_private(wrong_label.as_bytes()));
    assert!(
        message.contains("labelled RSA PRIVATE KEY, but holds a PKCS#8 private key"),
        "{message}"
    );
}

#[test]
fn no_cut_of_a_key_is_a_key() {
    let Some(openssl) = OpenSsl::find() else {
        return;
    };
    key_files(&openssl, 512, 65537);
    for (_, _, file) in FORMATS {
        let whole = openssl.file(file);
        let content = whole.trim_ascii_end().len();
        for len in 0..content {
            let message = refusal(decode_private(&whole[..len]));
            assert!(message.starts_with("this "), "{file} cut to {len}: {message}");
        }
    }
    let der = openssl.file("pkcs8.der");
    assert!(refusal(decode_private(&der[..der.len() - 1])).contains("is cut"));
    let pem = openssl.file("pkcs8.pem");
    assert!(refusal(decode_private(&pem[..pem.len() - 10])).contains("is cut"));
}

#[test]
fn no_key_with_an_altered_byte_is_a_key() {
    let mut rng = InsecureStudySeed::new([2; 32]).stream(0);
    let key = generate_strict(512, DEFAULT_EXPONENT, &mut rng).expect("a key").key;
    for format in [PrivateFormat::Pkcs1, PrivateFormat::Pkcs8] {
        let whole = encode_private(&key, format, Encoding::Der);
        for place in 0..whole.len() {
            for mask in [0x01, 0x80, 0xff] {
                let mut altered = whole.to_vec();
                altered[place] ^= mask;
                assert!(
                    decode_private(&altered).is_err(),
                    "{format:?}: byte {place} xor {mask:#x}"
                );
            }
        }
    }
}

#[test]
fn noise_is_not_a_key() {
    for bytes in [
        &b""[..],
        b" \n\t",
        b"hello",
        b"0",
        &[0x30],
        &[0x30, 0x80, 0, 0],
        &[0x30, 0],
        &[0x30, 3, 2, 1, 0],
        &[0xff; 4096],
        &[0; 4096],
        b"-----BEGIN ",
        b"-----BEGIN PRIVATE KEY-----\n-----END PRIVATE KEY-----\n",
        b"-----BEGIN PRIVATE KEY-----\n!!!!\n-----END PRIVATE KEY-----\n",
        b"-----BEGIN PRIVATE KEY-----\nMAA=\n-----END PRIVATE KEY-----\n",
        b"-----BEGIN SOMETHING-----\nMAA=\n-----END SOMETHING-----\n",
        b"-----BEGIN OPENSSH PRIVATE KEY-----\nMAA=\n-----END OPENSSH PRIVATE KEY-----\n",
        b"ssh-rsa AAAA me@here\n",
        b"\xef\xbb\xbf\xff\xfe",
    ] {
        assert!(refusal(decode_private(bytes)).starts_with("this "));
        assert!(refusal(decode_public(bytes)).starts_with("this "));
    }
}

#[test]
fn a_huge_file_is_refused_without_being_read_whole() {
    struct Endless(u64);
    impl std::io::Read for Endless {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            self.0 += buffer.len() as u64;
            assert!(self.0 < 2 * MAX_FILE_LEN as u64, "reads on and on");
            buffer.fill(0x30);
            Ok(buffer.len())
        }
    }
    let bytes = read(Endless(0)).expect("reads");
    assert_eq!(bytes.len(), MAX_FILE_LEN + 1);
    assert!(refusal(decode_private(&bytes)).contains("larger than 1 MiB"));
    // One byte less is looked at, and found to be something else.
    assert!(!refusal(decode_private(&bytes[1..])).contains("larger"));
}

/// Files that only we have written so far are read by their own programs. (Their absence is said aloud.)
#[test]
fn other_programs_read_what_we_write() {
    let folder = TempDir::new().unwrap();
    let run = |program: &str, arguments: &[&str]| {
        let output = Command::new(program)
            .current_dir(folder.path())
            .args(arguments)
            .output();
        match output {
            Ok(output) => {
                let told = String::from_utf8_lossy(&output.stderr).into_owned();
                assert!(output.status.success(), "{program} {arguments:?}: {told}");
                Some(output.stdout)
            }
            Err(error) => {
                eprintln!("SKIPPED: {program} cannot be asked: {error}");
                None
            }
        }
    };
    let write = |name: &str, bytes: &[u8]| {
        let path = folder.path().join(name);
        std::fs::write(&path, bytes).unwrap();
        let private = std::os::unix::fs::PermissionsExt::from_mode(0o600);
        std::fs::set_permissions(path, private).unwrap();
    };
    for bits in [1024, 2048] {
        let mut rng = InsecureStudySeed::new([3; 32]).stream(bits as u64);
        let key = generate_strict(bits, DEFAULT_EXPONENT, &mut rng).unwrap().key;
        let plain = encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem);

        for (encoding, form) in [(Encoding::Pem, "PEM"), (Encoding::Der, "DER")] {
            let locked = encode_encrypted(&key, &Usage::Any, b"open, sesame", encoding, &mut rng);
            write("locked", &locked.unwrap());
            let open = ["pkey", "-inform", form, "-in", "locked", "-passin", "pass:open, sesame"];
            if let Some(read) = run("openssl", &open) {
                assert_eq!(read, *plain);
            }
        }

        write("ssh", openssh::private(&key, "made by a test").unwrap().as_bytes());
        let line = openssh::public(key.public(), "made by a test");
        if let Some(read) = run("ssh-keygen", &["-y", "-P", "", "-f", "ssh"]) {
            assert_eq!(String::from_utf8(read).unwrap().trim_end(), line);
            run("ssh-keygen", &["-p", "-m", "PKCS8", "-P", "", "-N", "", "-f", "ssh"]);
            let read = std::fs::read(folder.path().join("ssh")).unwrap();
            assert_eq!(read, *plain);
        }

        write(
            "key.jwk",
            jwk::private(&key, &Restrictions::default(), &Annotations::default()).as_bytes(),
        );
        write(
            "public.jwk",
            jwk::public(key.public(), &Restrictions::default(), &Annotations::default()).as_bytes(),
        );
        write("plain", &plain);
        let reader = "
import base64, hashlib, json
from cryptography.hazmat.primitives.asymmetric import rsa
from cryptography.hazmat.primitives.serialization import load_pem_private_key
private, public = json.load(open('key.jwk')), json.load(open('public.jwk'))
number = lambda name: int.from_bytes(base64.urlsafe_b64decode(private[name] + '=='), 'big')
numbers = load_pem_private_key(open('plain', 'rb').read(), None).private_numbers()
n, e = numbers.public_numbers.n, numbers.public_numbers.e
members = dict(n=n, e=e, d=numbers.d, p=numbers.p, q=numbers.q, dp=numbers.dmp1, dq=numbers.dmq1, qi=numbers.iqmp)
assert {name: number(name) for name in members} == members
assert set(private) == set(members) | {'kty', 'kid'} and private['kty'] == 'RSA'
assert public == {name: private[name] for name in ('kty', 'kid', 'n', 'e')}
thumb = json.dumps({name: public[name] for name in ('e', 'kty', 'n')}, separators=(',', ':'))
kid = base64.urlsafe_b64encode(hashlib.sha256(thumb.encode()).digest()).rstrip(b'=').decode()
assert public['kid'] == kid
";
        let imports = Command::new("python3")
            .args(["-c", "import cryptography"])
            .stderr(Stdio::null())
            .status();
        match imports.is_ok_and(|status| status.success()) {
            true => drop(run("python3", &["-c", reader])),
            false => eprintln!("SKIPPED: there is no Python with cryptography"),
        }
    }
}

#[test]
fn multi_prime_keys_are_exchanged_with_openssl() {
    let Some(openssl) = OpenSsl::find() else {
        return;
    };
    for (bits, primes) in [(1536, 3), (4096, 3), (4096, 4), (8192, 5)] {
        // Theirs, read and written back byte for byte.
        openssl.run(&format!(
            "genpkey -quiet -algorithm RSA -pkeyopt rsa_keygen_bits:{bits} -pkeyopt rsa_keygen_primes:{primes} -out theirs.pem"
        ));
        let theirs = openssl.file("theirs.pem");
        let key = decode_private(&theirs).expect("a key");
        assert_eq!((key.bits(), key.primes()), (bits, primes));
        assert_eq!(key.weaknesses().len(), usize::from(bits < 2048));
        let written = encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem);
        assert_eq!(written[..], theirs[..], "{bits} bits, {primes} primes");
        openssl.run("rsa -traditional -in theirs.pem -out theirs-pkcs1.pem");
        let theirs = openssl.file("theirs-pkcs1.pem");
        let written = encode_private(&key, PrivateFormat::Pkcs1, Encoding::Pem);
        assert_eq!(written[..], theirs[..], "{bits} bits, {primes} primes");
    }
    for (bits, primes) in [(1024, 3), (2048, 3), (4096, 4)] {
        // Ours, which OpenSSL checks, primes and all.
        let rng = InsecureStudySeed::new([bits as u8; 32]).stream(primes as u64);
        let generation = Generation::new(bits, PublicExponent::Fixed(65537)).unwrap();
        let generation = generation.with_primes(primes).unwrap();
        let key = generation.generator(rng).unwrap().keys(1).unwrap().remove(0).key;
        let written = encode_private(&key, PrivateFormat::Pkcs8, Encoding::Pem);
        std::fs::write(openssl.path("ours.pem"), &written).unwrap();
        openssl.run("pkey -in ours.pem -noout -check");
        // And signs with it what we verify.
        std::fs::write(openssl.path("digest"), [7; 32]).unwrap();
        openssl.run("pkeyutl -sign -inkey ours.pem -in digest -out signature -pkeyopt digest:sha256");
        let ours = SigningKey::new(&key, SignatureScheme::Pkcs1v15(Hash::Sha256)).unwrap();
        let signatures = ours.sign_digests(&[&[7; 32]]).unwrap();
        assert_eq!(openssl.file("signature"), signatures[0].as_bytes());
    }
}
