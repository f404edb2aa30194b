//! `rsalab-openssl-check`, and what configurations do to the provider.

use std::{env, fs, path::Path, process::Command};

use crate::support::Here;

/// The exit code of the check with a configuration, and what it says.
fn check(here: &Here, configuration: &Path, words: &[&str]) -> (i32, String) {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("rsalab-openssl-check");
    let output = Command::new("sh")
        .arg(script)
        .args(words)
        .current_dir(here.folder())
        .env("OPENSSL_CONF", configuration)
        .output()
        .unwrap();
    let said = [output.stdout, output.stderr].concat();
    let said = String::from_utf8_lossy(&said).into_owned();
    (output.status.code().unwrap(), said)
}

#[test]
fn the_check_tells_configurations_that_sign_from_others() {
    let Some(here) = Here::new() else { return };
    let good = fs::read_to_string(here.path("openssl.cnf")).unwrap();
    let module = here.path("rsalab.so").display().to_string();
    let with = |setting: &str| good.replace(&module, &format!("{module}\n{setting}"));
    for (name, content, code, said) in [
        ("good", good.clone(), 0, "rsalab signs under OpenSSL "),
        ("settings", with("async = no\nshare-wait = 10"), 0, "rsalab signs"),
        (
            "noalg",
            good.replace("alg_section = algorithms", ""),
            6,
            "another provider",
        ),
        (
            "wrongprop",
            good.replace("?provider=rsalab", "?rsalab=yes"),
            6,
            "another provider",
        ),
        (
            "missing",
            good.replace(&module, "/nowhere/rsalab.so"),
            6,
            "does not load",
        ),
        ("unknown", with("share_wait = 100"), 3, "line"),
        ("async", with("async = maybe"), 6, "the setting async is yes or no"),
        ("wait", with("share-wait = -5"), 6, "the setting share-wait is a number"),
        (
            "jobs",
            with("abandoned-jobs = lots"),
            6,
            "the setting abandoned-jobs is a number",
        ),
        (
            "share",
            with("share-threads = 7"),
            6,
            "the setting share-threads is yes or no",
        ),
        (
            "bits",
            with("public-exponent-bits = 1"),
            6,
            "the setting public-exponent-bits is a",
        ),
    ] {
        let file = here.path(name);
        fs::write(&file, content).unwrap();
        let (found, what) = check(&here, &file, &[]);
        assert_eq!(found, code, "{name}: {what}");
        assert!(what.contains(said), "{name}: {what}");
    }
    let good = here.path("good");
    here.run(false, "genrsa -out key.pem 1024");
    assert_eq!(check(&here, &good, &["key.pem"]).0, 0);
    assert_eq!(check(&here, &good, &["good"]).0, 3);
    assert_eq!(check(&here, &good, &["--help"]).0, 2);
    assert_eq!(check(&here, &good, &["key.pem", "key.pem"]).0, 2);
}

#[test]
fn a_configuration_with_the_systems_keeps_its_policy() {
    let Some(here) = Here::new() else { return };
    // As Debian's, with a policy.
    let system = "openssl_conf = openssl_init\n[openssl_init]\nproviders = provider_sect\nssl_conf = ssl_sect\n\
        [provider_sect]\ndefault = default_sect\n[default_sect]\n[ssl_sect]\nsystem_default = policy\n\
        [policy]\nCipherString = ECDHE-RSA-AES256-GCM-SHA384\n";
    fs::write(here.path("system"), system).unwrap();
    let example = include_str!("../../../system.cnf");
    let ours = example
        .replace("/usr/lib/rsalab/rsalab.so", here.path("rsalab.so").to_str().unwrap())
        .replace("/etc/ssl/openssl.cnf", here.path("system").to_str().unwrap());
    assert_ne!(ours, example);
    let file = here.path("both");
    fs::write(&file, ours).unwrap();
    let (code, said) = check(&here, &file, &[]);
    assert_eq!(code, 0, "{said}");
    let ciphers = |configuration: &Path| {
        let mut command = here.command(true, "ciphers");
        let output = command.env("OPENSSL_CONF", configuration).output().unwrap();
        String::from_utf8(output.stdout).unwrap()
    };
    assert!(ciphers(&file).contains("ECDHE-RSA-AES256-GCM-SHA384"));
    assert!(!ciphers(&file).contains("ECDHE-RSA-AES128-GCM-SHA256"));
    assert!(ciphers(&here.path("openssl.cnf")).contains("ECDHE-RSA-AES128-GCM-SHA256"));

    // Node.js looks for a name of its own. One that has an OpenSSL of its own is of no use with the libraries of
    // another.
    let script = "require('crypto').generateKeyPairSync('rsa', {modulusLength: 1024});\
        process.exit(require('fs').readFileSync('/proc/self/maps', 'utf8').includes('rsalab.so') ? 0 : 1)";
    let node = Command::new("node")
        .args(["-e", script])
        .env("OPENSSL_CONF", &file)
        .env_remove("LD_LIBRARY_PATH")
        .output();
    match node {
        Ok(output) => assert!(output.status.success(), "{output:?}"),
        Err(_) => eprintln!("SKIPPED: there is no Node.js here to read nodejs_conf"),
    }
}

/// Whoever sends a certificate chooses its exponent, and how long its signature takes to verify: OpenSSL's own bound
/// holds, unless a setting says more.
#[test]
fn long_public_exponents_are_refused_as_openssl_does() {
    let Some(here) = Here::new() else { return };
    here.run(false, "genrsa -out short.pem 2048");
    fs::write(here.path("message"), [1; 32]).unwrap();
    // A modulus of 3088 bits, whatever its factors, and an exponent of 65.
    let exponent = "1".to_owned() + &"0".repeat(15) + "1";
    let modulus = "f".repeat(771) + "1";
    for (e, settings, refused) in [
        (exponent.as_str(), "", true),
        (&exponent, "public-exponent-bits = 65", false),
        ("10001", "", false),
    ] {
        let here = Here::with(settings).unwrap();
        fs::write(here.path("message"), [1; 32]).unwrap();
        let key = format!(
            "asn1=SEQUENCE:key\n[key]\nalgorithm=SEQUENCE:algorithm\nbits=BITWRAP,SEQUENCE:numbers\n[algorithm]\n\
            oid=OID:rsaEncryption\nnull=NULL\n[numbers]\nn=INTEGER:0x{modulus}\ne=INTEGER:0x{e}\n"
        );
        fs::write(here.path("key.asn1"), key).unwrap();
        here.run(false, "asn1parse -genconf key.asn1 -noout -out key.der");
        for ours in [true, false] {
            if !ours && !settings.is_empty() {
                continue;
            }
            let line = "pkeyutl -encrypt -pubin -inkey key.der -keyform DER -in message -out x";
            let output = here.output(ours, line);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(!output.status.success(), refused, "{e}, ours {ours}: {said}");
            assert!(!refused || said.contains("bad e value"), "{e}, ours {ours}: {said}");
            // Verification of a signature that is as long as the modulus.
            fs::write(here.path("signature"), [1; 386]).unwrap();
            let line = "pkeyutl -verify -pubin -inkey key.der -keyform DER -in message -sigfile signature";
            let output = here.output(ours, line);
            let said = String::from_utf8_lossy(&output.stderr);
            assert_eq!(said.contains("bad e value"), refused, "{e}, ours {ours}: {said}");
        }
    }
}
