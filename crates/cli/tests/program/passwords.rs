//! Passwords from files: empty ones, and what editors add; and what is said of files whose passwords protect little.

use std::{fs, path::Path, process::Output};

use serde_json::Value;

use crate::support::{assert_done, assert_failure, folder, run, stdout};

/// A key of 512 bits under `sesame`, as OpenSSL wrote it before PKCS#8.
const OLD: &str = "-----BEGIN RSA PRIVATE KEY-----
Proc-Type: 4,ENCRYPTED
DEK-Info: AES-128-CBC,1E5FADE333CC883095CAD0B15C7E5AB4

zypYbbpAPe5WklteOlUg8zvR+KhVJGKV+pYyOgfSonhTwas7LzKUperaJRsqlEil
5qmRljChwYw/TiaRVWX9KOOgr58XUVe4JKAE2K7eagOWYuBcwEI+Bd4tB0HXhuUr
PoVAo5lTHGA+jhRfph1k5lKit06ib/im6YlRuz73EPOA55zq+34igLqHnOcl+m3c
e43D1po7nyuXxur9RaOjgOLIl36TxQpesoPDqUtbSCLRiMTmSmUBFatvBaK2Q0Pm
14X5BkO0gDjj+5hYha+g38BAHDca9ICEWI5t0J10xs3ZlRfd/56rMHC1+ALMdHEW
s9z9Lkw2LziIeyJLq2DGuQfg816RNCzxpdm8PkD2eFtAxhyIIzCDCWr29GEhn7TG
JvzrRJeRM4m45ceurpfanB6UBbHFV5I9HC1xARLcSkA=
-----END RSA PRIVATE KEY-----
";
/// A key under the empty password: PBES2, PBKDF2 with 1000 iterations, AES-256.
const EMPTY: &str = "-----BEGIN ENCRYPTED PRIVATE KEY-----
MIIBvTBXBgkqhkiG9w0BBQ0wSjApBgkqhkiG9w0BBQwwHAQIjrFyEqBrOKACAgPo
MAwGCCqGSIb3DQIJBQAwHQYJYIZIAWUDBAEqBBCt/dhVOXerjW8YVDCuPA0jBIIB
YEWG6HgqWogPy3ffRo7gFtPZups4hSdDSD0wJ3dqRJgDDRR7ryruiNTe2nvxfZHO
TcM2bnzHxpsdgbTRLhJHPKleHo9XMnJGbQCycTTPwG3r47WYfdxneqzQs8sP5aEB
DRgyk7qX1aCZGsyiRI2jif5g7wc6hkq4AfradA5xHOLyOnDA67ZCw2vx0PwqfIHC
DUPWv+y07OVQvhh7iiK5ozWm0NZzoqxkqutNNCk+8UUpgJ7V5W9uNs4s2UnQ2ls3
i87yIULEyEzicX3p/mBMFlmcX+n/+tAozuL/gZlBRvqLXpl6bicu6BCXsxq59Iq5
udRXJ+w2Wj2y2q2XusS5ynpjfPp66GoefbkTTxj7NS4kGNAyxJute0SxPYty6+tt
hqktRGkA0SesxthKnwZRNmzlZttySby3yvcid6D8PMX1vHfq2BChQeqJl01JRdCl
j+4zHNdSk1MxTUGrjaJaAv0=
-----END ENCRYPTED PRIVATE KEY-----
";

fn typed(here: &Path, line: &str) -> Output {
    run(here, line.split(' '))
}

#[test]
fn an_old_encryption_is_read_with_a_warning() {
    let here = folder();
    let here = here.path();
    fs::write(here.join("old.pem"), OLD).expect("it can be written");
    fs::write(here.join("password"), "sesame\n").expect("it can be written");
    let read = typed(here, "key public --password-file password old.pem");
    assert_done(&read);
    let said = String::from_utf8_lossy(&read.stderr);
    assert!(
        said.contains("warning: old.pem: its encryption") && said.contains("MD5"),
        "{said}"
    );
    assert!(
        said.contains("'rsalab key convert FILE --format pkcs8-encrypted --out NEW'"),
        "{said}"
    );
    // What is advised works, and leaves nothing to warn of.
    assert_done(&typed(
        here,
        "key convert --password-file password --new-password-file password old.pem --format pkcs8-encrypted --out new.pem",
    ));
    let again = typed(here, "key public --password-file password new.pem");
    assert_done(&again);
    assert_eq!((&again.stdout, again.stderr.is_empty()), (&read.stdout, true));
    let check = |file: &str| -> Value {
        let output = typed(here, &format!("key check --json --password-file password {file}"));
        assert_done(&output);
        serde_json::from_str(stdout(&output)).expect("it is JSON")
    };
    let (old, new) = (check("old.pem"), check("new.pem"));
    assert!(
        old[0]["encryption"]
            .as_str()
            .is_some_and(|how| how.contains("aes-128-cbc")),
        "{old}"
    );
    assert!(
        old[0]["encryption_weakness"]
            .as_str()
            .is_some_and(|why| why.contains("MD5")),
        "{old}"
    );
    assert!(
        new[0]["encryption"].as_str().is_some_and(|how| how.contains("scrypt")),
        "{new}"
    );
    assert_eq!(new[0].get("encryption_weakness"), None);
    let table = typed(here, "key check --password-file password old.pem");
    assert!(stdout(&table).contains("protects little"), "{}", stdout(&table));
}

#[test]
fn an_empty_password_opens_a_key_and_makes_none() {
    let here = folder();
    let here = here.path();
    fs::write(here.join("empty.pem"), EMPTY).expect("it can be written");
    for (name, text) in [("nothing", ""), ("line", "\n"), ("windows", "\r\n")] {
        fs::write(here.join(name), text).expect("it can be written");
        assert_done(&typed(here, &format!("key public --password-file {name} empty.pem")));
        let line = format!(
            "key convert --password-file {name} --new-password-file {name} --format pkcs8-encrypted empty.pem --out new.pem"
        );
        assert_failure(&typed(here, &line), 3, "is empty");
        assert!(!here.join("new.pem").exists());
    }
    fs::write(here.join("old.pem"), OLD).expect("it can be written");
    let wrong = typed(here, "key public --password-file nothing old.pem");
    assert_failure(&wrong, 3, "is not its password: it is empty");
}

#[test]
fn what_editors_add_to_a_password_is_said_and_enters_no_new_key() {
    let here = folder();
    let here = here.path();
    fs::write(here.join("old.pem"), OLD).expect("it can be written");
    fs::write(here.join("password"), "sesame").expect("it can be written");
    let wide = |mark: &[u8], big: bool| -> Vec<u8> {
        let units = "sesame\r\n".encode_utf16();
        let bytes = units.flat_map(|unit| if big { unit.to_be_bytes() } else { unit.to_le_bytes() });
        mark.iter().copied().chain(bytes).collect()
    };
    let files: [(&str, Vec<u8>, &str); 5] = [
        ("bom", b"\xef\xbb\xbfsesame\n".to_vec(), "byte order mark"),
        ("le", wide(b"\xff\xfe", false), "UTF-16"),
        ("be", wide(b"\xfe\xff", true), "UTF-16"),
        ("unmarked", wide(b"", false), "UTF-16"),
        ("zero", b"ses\0ame".to_vec(), "zero byte"),
    ];
    for (name, bytes, words) in &files {
        fs::write(here.join(name), bytes).expect("it can be written");
        let wrong = typed(here, &format!("key public --password-file {name} old.pem"));
        assert_failure(&wrong, 3, words);
        for line in [
            format!(
                "key convert --password-file password --new-password-file {name} --format pkcs8-encrypted old.pem --out new"
            ),
            format!("keygen --bits 512 --insecure-size --format pkcs8-encrypted --password-file {name} --out new"),
        ] {
            assert_failure(&typed(here, &line), 3, words);
            assert!(!here.join("new").exists(), "{line}");
        }
    }
    fs::write(here.join("blank"), "sesame \n").expect("it can be written");
    let wrong = typed(here, "key public --password-file blank old.pem");
    assert_failure(&wrong, 3, "ends with white space");
}
