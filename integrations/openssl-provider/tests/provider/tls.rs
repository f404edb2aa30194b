//! Servers of TLS with the provider: with certificates of both types of keys, with jobs and without.

use crate::support::{Here, tls::Server};

/// A key `key.pem` and a certificate `c.pem` of ours.
fn certificate(here: &Here, key: &str, options: &str) {
    here.run(true, &format!("genpkey {key} -out key.pem"));
    let cnf = here.path("openssl.cnf");
    let line = format!(
        "req -config {} -x509 -new -key key.pem -subj /CN=localhost -days 2 {options} -out c.pem",
        cnf.display()
    );
    here.run(true, &line);
}

#[test]
fn a_server_with_and_without_jobs() {
    let Some(here) = Here::new() else { return };
    certificate(&here, "-algorithm RSA -pkeyopt rsa_keygen_bits:2048", "-sha256");
    for option in ["", " -async"] {
        // Everything before TLS 1.2 signs a digest of MD5 and SHA-1.
        let options = format!("-cert c.pem -key key.pem -cipher ALL:@SECLEVEL=0{option}");
        let server = Server::new(&here, true, &options);
        for version in [
            "-tls1 -cipher ECDHE:@SECLEVEL=0",
            "-tls1_1 -cipher ECDHE:@SECLEVEL=0",
            "-tls1_2",
            "-tls1_3",
            // The client encrypts the premaster secret.
            "-tls1_2 -cipher AES128-GCM-SHA256",
        ] {
            for ours in [false, false, true] {
                let page = server.page(&here, ours, &format!("-CAfile c.pem {version}"));
                assert!(page.contains("HTTP/1.0 200"), "{version}{option}: {page}");
            }
        }
    }
}

#[test]
fn certificates_of_rsa_pss_keys() {
    let Some(here) = Here::new() else { return };
    for (restrictions, digest) in [
        ("", "-sha256"),
        (
            " -pkeyopt rsa_pss_keygen_md:sha384 -pkeyopt rsa_pss_keygen_mgf1_md:sha384 -pkeyopt rsa_pss_keygen_saltlen:48",
            "-sha384",
        ),
    ] {
        certificate(&here, &format!("-algorithm RSA-PSS{restrictions}"), digest);
        for (ours, option) in [(true, ""), (true, " -async"), (false, "")] {
            let server = Server::new(&here, ours, &format!("-cert c.pem -key key.pem{option}"));
            for version in ["-tls1_2", "-tls1_3"] {
                for ours in [false, true] {
                    let page = server.page(&here, ours, &format!("-CAfile c.pem {version}"));
                    assert!(
                        page.contains("HTTP/1.0 200"),
                        "{restrictions} {version}{option}: {page}"
                    );
                    // Signatures that the key is restricted from are refused.
                    let only = format!("-CAfile c.pem {version} -sigalgs rsa_pss_rsae_sha256");
                    assert!(!server.page(&here, ours, &only).contains("HTTP/1.0 200"));
                }
            }
        }
    }
}
