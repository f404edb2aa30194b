//! Keys in texts: PEM with white space and text around it, base64 alone, files of settings and of other programs.

use base64ct::{Base64, Encoding as _};
use rsalab_rsa::format::encode_public;

use super::*;

fn pem(key: &PrivateKey) -> String {
    let pem = encode_private(key, PrivateFormat::Pkcs8, Encoding::Pem);
    String::from_utf8(pem.to_vec()).expect("text")
}

/// The lines of a text, changed one by one.
fn each_line(text: &str, change: impl Fn(&str) -> String) -> String {
    text.lines().map(|line| change(line) + "\n").collect()
}

fn utf_16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(order).collect()
}

#[test]
fn white_space_and_text_around_a_pem_are_passed_over() {
    let key = key(512);
    let whole = pem(&key);
    let is_edge = |line: &str| line.starts_with("-----");
    let forms = [
        each_line(&whole, |line| format!(" {line}")),
        each_line(&whole, |line| match is_edge(line) {
            true => line.to_owned(),
            false => format!("\t  {line}"),
        }),
        each_line(&whole, |line| format!("{line} \t")),
        each_line(&whole, |line| match is_edge(line) {
            true => format!("{line}  "),
            false => line.to_owned(),
        }),
        each_line(&whole, |line| format!("{line}\r")),
        each_line(&whole, |line| format!("{line}\n")),
        whole.replace('\n', "\r"),
        format!("Bag Attributes\n    localKeyID: 01\n\n{whole}"),
        format!("{whole}and so on\n---\nVerify return code: 0 (ok)\n"),
        format!("say -----BEGIN X-----, then\n{whole}"),
        format!("\u{feff}{whole}"),
        each_line(&whole, |line| match is_edge(line) {
            true => line.to_owned(),
            false => line.chars().map(|c| format!("{c}\n")).collect(),
        }),
    ];
    for form in forms {
        let found = decode_private(form.as_bytes()).unwrap_or_else(|error| panic!("{error}, of:\n{form}"));
        assert_eq!(pkcs8(&found), pkcs8(&key), "{form}");
    }
    for order in [u16::to_le_bytes, u16::to_be_bytes] {
        for text in [
            whole.clone(),
            format!("\u{feff}{whole}"),
            format!(
                "\u{feff}{}",
                *jwk::private(&key, &Restrictions::default(), &Annotations::default())
            ),
        ] {
            let found = decode_private(&utf_16(&text, order)).expect("UTF-16");
            assert_eq!(pkcs8(&found), pkcs8(&key));
        }
    }
    let ssh = openssh::private(&key, "me@here").expect("two primes");
    for form in [
        each_line(&ssh, |line| format!("  {line} ")),
        each_line(&ssh, |line| format!("{line}\r\n")),
    ] {
        let found = decode_private(form.as_bytes()).expect("a key of OpenSSH");
        assert_eq!(found.public(), key.public());
    }
}

#[test]
fn forms_of_settings_are_read_or_named() {
    let key = key(512);
    let whole = pem(&key);
    let written = whole.trim_end().replace('\n', "\\n");
    for (form, words) in [
        (whole.replace('\n', ""), "has lost line ends"),
        (whole.replace('\n', " "), "has lost line ends"),
        (whole.replacen("-----\n", "-----", 1), "has lost line ends"),
        (whole.replace("\n-----END", "-----END"), "has lost line ends"),
        (written.clone(), "written out as \\n"),
        (whole.trim_end().replace('\n', "\\r\\n"), "written out as \\n"),
        (format!("KEY=\"{written}\"\n"), "in quotation marks"),
        (format!("KEY='{whole}'\n"), "in quotation marks"),
        (format!("\"{whole}\"\n"), "in quotation marks"),
        (format!("key: {whole}"), "behind other text"),
    ] {
        for message in [
            reason(load_private(form.as_bytes(), None)),
            reason(load_public(form.as_bytes(), None)),
        ] {
            assert!(message.contains(words), "{words}: {message}, of:\n{form}");
        }
    }
    // Base64 alone, and a service account, say all that there is to say.
    let base64 = Base64::encode_string(&pkcs8(&key));
    let lines: Vec<&str> = whole.lines().collect();
    let account = serde_json::json!({
        "type": "service_account", "private_key_id": "7", "private_key": whole, "client_id": "8",
    });
    for form in [
        base64.clone(),
        format!("\n{base64}\r\n"),
        lines[1..lines.len() - 1].join("\n"),
        account.to_string(),
        format!("{account:#}"),
    ] {
        let found = load_private(form.as_bytes(), None).unwrap_or_else(|error| panic!("{error}, of:\n{form}"));
        assert_eq!(pkcs8(&found.key), pkcs8(&key));
        assert_eq!(found.content, Content::Pkcs8);
    }
    let cut = &base64[..base64.len() / 2 - base64.len() / 2 % 4];
    assert!(reason(load_private(cut.as_bytes(), None)).contains("cut"));
    let cut = &base64[..101];
    assert!(reason(load_private(cut.as_bytes(), None)).contains("base64 without lines"));
}

/// Programs that advice is tried with: the installed OpenSSL, and another one that is named.
fn openssls() -> Vec<String> {
    let other = std::env::var("RSALAB_OPENSSL").ok();
    if other.is_none() {
        eprintln!("SKIPPED: RSALAB_OPENSSL names no other version of OpenSSL to try advice with");
    }
    std::iter::once("openssl".to_owned()).chain(other).collect()
}

/// Runs the command that a message advises, and returns what it writes.
fn advised(message: &str, folder: &Other, file: &str, openssl: &str) -> Vec<u8> {
    let command = message.split('`').nth(1).expect("a command");
    let command = command.replace("FILE", file).replace("NEW", "new");
    let command = match command.strip_prefix("openssl ") {
        Some(rest) => format!("{openssl} {rest}"),
        None => command,
    };
    let output = Command::new("sh")
        .args(["-c", &command])
        .current_dir(folder.0.path())
        .output()
        .expect("there is a shell");
    let stderr = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{command}: {stderr}");
    output.stdout
}

#[test]
fn files_of_other_kinds_are_named_and_advice_about_them_works() {
    let Some(openssl) = Other::find("openssl") else {
        return;
    };
    let key = key(1024);
    openssl.write("key.pem", pem(&key).as_bytes());
    openssl.write("escaped", pem(&key).replace('\n', "\\n").as_bytes());
    openssl.write("hex", hex::encode(pkcs8(&key)).as_bytes());
    for line in [
        "openssl req -x509 -new -key key.pem -subj /CN=x -days 3 -out certificate",
        "openssl x509 -in certificate -trustout -addtrust clientAuth -out trusted",
        "openssl req -new -key key.pem -subj /CN=x -out request",
        "openssl req -new -key key.pem -subj /CN=x -outform der -out request.der",
        "openssl pkcs12 -export -inkey key.pem -in certificate -passout pass: -out bundle.p12",
        "openssl pkcs12 -export -inkey key.pem -in certificate -nomac -passout pass: -out bare.p12",
        "openssl crl2pkcs7 -nocrl -certfile certificate -out pkcs7",
        "openssl crl2pkcs7 -nocrl -certfile certificate -outform der -out pkcs7.der",
    ] {
        openssl.run(line);
    }
    let chain = [openssl.file("certificate"), openssl.file("certificate")].concat();
    openssl.write("chain", &chain);
    for (file, words) in [
        ("trusted", "a certificate with OpenSSL's own remarks"),
        ("request", "a certificate request"),
        ("request.der", "a certificate request"),
        ("bundle.p12", "a PKCS#12 file"),
        ("bare.p12", "a PKCS#12 file"),
        ("pkcs7", "a PKCS#7 file"),
        ("pkcs7.der", "a PKCS#7 file"),
        ("chain", "2 certificates"),
        ("escaped", "written out"),
        ("hex", "hexadecimal"),
    ] {
        let message = reason(load_public(&openssl.file(file), None));
        assert!(message.contains(words), "{file}: {message}");
        assert!(!message.contains("damaged"), "{file}: {message}");
        for command in openssls() {
            let command = match file.ends_with("p12") {
                // Nobody types a password here.
                true => format!("{command} pkcs12 -passin pass: "),
                false => command,
            };
            let message = message.replace("`openssl pkcs12 ", "`openssl ");
            let made = advised(&message, &openssl, file, &command);
            let found = load_public(&made, None).unwrap_or_else(|error| panic!("{file}, by {command}: {error}"));
            assert_eq!(&found.key, key.public(), "{file}");
        }
    }
    // A list of revoked certificates has no key that anybody could take out of it.
    openssl.write("index", b"");
    openssl.write("serial", b"01\n");
    openssl.write(
        "ca.cnf",
        b"[ca]\ndefault_ca=a\n[a]\ndatabase=index\ncrlnumber=serial\ndefault_md=sha256\n",
    );
    openssl.run("openssl ca -config ca.cnf -gencrl -keyfile key.pem -cert certificate -crldays 3 -out crl");
    openssl.run("openssl crl -in crl -outform der -out crl.der");
    for file in ["crl", "crl.der"] {
        let message = reason(load_public(&openssl.file(file), None));
        assert!(message.contains("list of revoked certificates"), "{message}");
    }
}

#[test]
fn files_of_ssh_programs_are_named_and_advice_about_them_works() {
    let Some(ssh) = Other::find("ssh-keygen") else {
        return;
    };
    let key = key(1024);
    ssh.write("key.pub", openssh::public(key.public(), "me").as_bytes());
    let output = Command::new("ssh-keygen")
        .args(["-e", "-m", "RFC4716", "-f", "key.pub"])
        .current_dir(ssh.0.path())
        .output()
        .expect("it is there");
    ssh.write("ssh2", &output.stdout);
    let message = reason(load_public(&output.stdout, None));
    assert!(message.contains("RFC 4716"), "{message}");
    let made = advised(&message, &ssh, "ssh2", "openssl");
    assert_eq!(&load_public(&made, None).expect("a line").key, key.public());

    let ppk = b"PuTTY-User-Key-File-3: ssh-rsa\nEncryption: none\n";
    let message = reason(load_private(ppk, None));
    assert!(message.contains("PuTTY"), "{message}");
    let Some(puttygen) = Other::find("puttygen") else {
        return;
    };
    puttygen.write("key.pem", pem(&key).as_bytes());
    puttygen.run("puttygen key.pem -O private -o key.ppk --new-passphrase /dev/null");
    advised(&message, &puttygen, "key.ppk", "openssl");
    let found = load_private(&puttygen.file("new"), None).expect("a key of OpenSSH");
    assert_eq!(found.key.public(), key.public());
}

#[test]
fn of_several_blocks_the_private_key_is_meant() {
    let Some(openssl) = Other::find("openssl") else {
        return;
    };
    let key = key(1024);
    let whole = pem(&key);
    openssl.write("key.pem", whole.as_bytes());
    openssl.run("openssl req -x509 -new -key key.pem -subj /CN=x -days 3 -out certificate");
    let certificate = String::from_utf8(openssl.file("certificate")).expect("text");
    let public = String::from_utf8(encode_public(key.public(), PublicFormat::Spki, Encoding::Pem));
    let public = public.expect("text");
    for file in [
        format!("{whole}{certificate}{certificate}"),
        format!("{certificate}{certificate}\n{whole}"),
        format!("{public}{whole}"),
    ] {
        let found = load_private(file.as_bytes(), None).expect("the key");
        assert_eq!(pkcs8(&found.key), pkcs8(&key));
        let found = load_public(file.as_bytes(), None).expect("its public half");
        assert_eq!((&found.key, found.content), (key.public(), Content::Pkcs8));
    }
    let session = format!("CONNECTED(00000003)\n---\n{certificate}---\nNo client certificate\n");
    let found = load_public(session.as_bytes(), None).expect("the certificate");
    assert_eq!((&found.key, found.content), (key.public(), Content::Certificate));
    for (file, words) in [
        (format!("{certificate}{certificate}"), "2 certificates"),
        (format!("{whole}{whole}{certificate}"), "3, 2 of them private keys"),
        (format!("{public}{certificate}"), "2, 0 of them private keys"),
    ] {
        let message = reason(load_public(file.as_bytes(), None));
        assert!(message.contains("more than one PEM block"), "{message}");
        assert!(message.contains(words), "{message}");
    }
    let pgp = "-----BEGIN PGP SIGNED MESSAGE-----\nHash: SHA256\n\nx\n-----BEGIN PGP SIGNATURE-----\n\niQ==\n-----END PGP SIGNATURE-----\n";
    assert!(reason(load_public(pgp.as_bytes(), None)).contains("OpenPGP"));
}

#[test]
fn a_line_of_many_begins_takes_no_time() {
    let text = format!("x{}", "-----BEGIN PRIVATE KEY-----".repeat(38_000));
    let started = Instant::now();
    assert!(reason(load_private(text.as_bytes(), None)).contains("behind other text"));
    let text = "-----BEGIN PRIVATE KEY-----\n".repeat(37_000);
    assert!(reason(load_private(text.as_bytes(), None)).contains("cut"));
    assert!(started.elapsed() < HANGS);
}
