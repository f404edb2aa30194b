//! `vectors -`: requests in, answers out, alone and in batches.

use serde_json::{Value, json};

use crate::support::{assert_done, assert_failure, folder, rsalab, stdout, study_key};

fn ask(options: &[&str], lines: &str) -> std::process::Output {
    let here = folder();
    rsalab(here.path())
        .args(["vectors", "-"])
        .args(options)
        .write_stdin(lines)
        .output()
        .expect("the program starts")
}

fn answers(output: &std::process::Output) -> Vec<Value> {
    stdout(output)
        .lines()
        .map(|line| serde_json::from_str(line).expect("each line is JSON"))
        .collect()
}

fn lines(requests: &[Value]) -> String {
    requests.iter().map(|request| format!("{request}\n")).collect()
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn every_operation_answers_the_same_on_every_kernel_and_in_batches_of_every_size() {
    let here = folder();
    let key = std::fs::read_to_string(study_key(here.path(), 1024)).expect("it was made");
    let public = std::fs::read_to_string(here.path().join("public.pem")).expect("it was made");
    let made = [
        json!({"op": "sign", "scheme": "pkcs1v15", "hash": "sha256", "key": key, "msg": hex(b"one")}),
        json!({"op": "sign", "scheme": "pss", "hash": "sha384", "mgf_hash": "sha1", "key": key, "msg": ""}),
        json!({"op": "sign", "scheme": "pss", "salt_len": "max", "key": key, "msg": hex(b"two")}),
        json!({"op": "encrypt", "scheme": "oaep", "label": "ab", "key": public, "msg": hex(b"three")}),
        json!({"op": "encrypt", "scheme": "pkcs1v15", "key": key, "msg": hex(b"four")}),
        json!({"op": "raw_pub", "key": public, "in": "2"}),
    ];
    let output = ask(&[], &lines(&made));
    assert_done(&output);
    let out: Vec<String> = answers(&output)
        .iter()
        .zip(&made)
        .map(
            |(answer, request)| match (&answer["result"], request["mgf_hash"] == "sha1") {
                (Value::String(result), true) => {
                    assert_eq!(result, "unsupported", "a mask of SHA-1 signs nothing");
                    String::new()
                }
                (result, _) => {
                    assert_eq!(result, "accept", "{answer}");
                    answer["out"].as_str().expect("something came out").to_owned()
                }
            },
        )
        .collect();
    let (p, q) = (
        "ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff43",
        "c000000000000000000000000000000000000000000000000000000000000001",
    );
    let cases = [
        (
            json!({"op": "verify", "scheme": "pkcs1v15", "key": public, "msg": hex(b"one"), "sig": out[0]}),
            "accept",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pkcs1v15", "key": public, "msg": hex(b"One"), "sig": out[0]}),
            "reject",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pkcs1v15", "key": public, "msg": hex(b"one"), "sig": format!("{}00", out[0])}),
            "reject",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pkcs1v15", "hash": "sha224", "key": public, "msg": hex(b"one"), "sig": out[0]}),
            "reject",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pss", "key": public, "msg": hex(b"two"), "sig": out[2], "salt_len": "any"}),
            "accept",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pss", "key": public, "msg": hex(b"two"), "sig": out[2], "salt_len": 94}),
            "accept",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pss", "key": public, "msg": hex(b"two"), "sig": out[2]}),
            "reject",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pss", "key": public, "msg": hex(b"two"), "sig": out[2], "salt_len": 95}),
            "reject",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pss", "hash": "shake128", "key": public, "msg": "", "sig": ""}),
            "reject",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pss", "hash": "shake128", "mgf_hash": "sha256", "key": public, "msg": "", "sig": ""}),
            "unsupported",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "pkcs1v15", "hash": "shake256", "key": public, "msg": "", "sig": ""}),
            "unsupported",
            None,
        ),
        (
            json!({"op": "decrypt", "scheme": "oaep", "mgf_hash": "shake256", "key": key, "ct": out[3]}),
            "unsupported",
            None,
        ),
        (
            json!({"op": "verify", "scheme": "raw", "key": public, "msg": out[5], "sig": format!("{:0>256}", "2")}),
            "accept",
            None,
        ),
        (
            json!({"op": "decrypt", "scheme": "oaep", "label": "ab", "key": key, "ct": out[3]}),
            "accept",
            Some(hex(b"three")),
        ),
        (
            json!({"op": "decrypt", "scheme": "oaep", "label": "abc", "key": key, "ct": out[3]}),
            "reject",
            None,
        ),
        (
            json!({"op": "decrypt", "scheme": "pkcs1v15", "key": key, "ct": out[4]}),
            "accept",
            Some(hex(b"four")),
        ),
        (
            json!({"op": "decrypt", "scheme": "pkcs1v15", "key": key, "ct": "00"}),
            "reject",
            None,
        ),
        (
            json!({"op": "raw_priv", "key": key, "in": out[5]}),
            "accept",
            Some(format!("{:0>256}", "2")),
        ),
        (
            json!({"op": "raw_priv", "key": key, "in": "0"}),
            "accept",
            Some("0".repeat(256)),
        ),
        (
            json!({"op": "raw_priv", "key": key, "in": "f".repeat(256)}),
            "reject",
            None,
        ),
        (
            json!({"op": "raw_priv", "key": key, "in": "f".repeat(259)}),
            "reject",
            None,
        ),
        (json!({"op": "raw_priv", "key": public, "in": "2"}), "reject", None),
        (json!({"op": "primality", "value": "0"}), "reject", None),
        (json!({"op": "primality", "value": "1"}), "reject", None),
        (json!({"op": "primality", "value": "2"}), "accept", None),
        (json!({"op": "primality", "value": "00000000000000007"}), "accept", None),
        (json!({"op": "primality", "value": "9"}), "reject", None),
        (json!({"op": "primality", "value": "10001"}), "accept", None),
        (json!({"op": "primality", "value": p}), "accept", None),
        (json!({"op": "primality", "value": q}), "reject", None),
        (
            json!({"op": "primality", "value": "f".repeat(5000)}),
            "unsupported",
            None,
        ),
        (json!({"op": "keygen_kat", "p": p, "q": q}), "reject", None),
        (json!({"op": "keygen_kat", "p": p, "q": p}), "reject", None),
        (json!({"op": "keygen_kat", "p": p, "q": p, "e": "3"}), "reject", None),
        (json!({"op": "loadkey", "key": key}), "accept", None),
        (json!({"op": "loadkey", "key": public}), "accept", None),
        (json!({"op": "loadkey", "key": key.replace('A', "B")}), "reject", None),
        (json!({"op": "keycheck", "key": key}), "reject", None),
        (json!({"op": "fly"}), "unsupported", None),
    ];
    let requests: Vec<Value> = cases
        .iter()
        .enumerate()
        .map(|(place, (request, ..))| {
            let mut request = request.clone();
            request["id"] = json!({"place": place});
            request
        })
        .collect();
    // Each twice, so that there are batches of more than one.
    let text = lines(&requests).repeat(2);
    for kernel in ["mont64x1_portable", "mont52x8_portable", "mont47x4_portable"] {
        for batch in ["", "1", "7", "33", "1000"] {
            let mut options = vec!["--kernel", kernel];
            if !batch.is_empty() {
                options.extend(["--batch", batch]);
            }
            let output = ask(&options, &text);
            assert_done(&output);
            let answers = answers(&output);
            assert_eq!(answers.len(), 2 * cases.len());
            for (place, answer) in answers.iter().enumerate() {
                let (request, result, out) = &cases[place % cases.len()];
                assert_eq!(answer["id"], json!({"place": place % cases.len()}));
                assert_eq!(answer["result"], *result, "{request}\n{answer}\n{options:?}");
                if let Some(out) = out {
                    assert_eq!(answer["out"], *out, "{request}");
                }
                assert_eq!(answer.get("reason").is_some(), *result != "accept", "{answer}");
            }
        }
    }
}

#[test]
fn primes_that_fips_accepts_are_accepted() {
    let here = folder();
    let made = crate::support::run(here.path(), ["keygen", "--format", "jwk", "--out", "-"]);
    assert_done(&made);
    let key: Value = serde_json::from_slice(&made.stdout).expect("it is JSON");
    let number = |name: &str| {
        let text = key[name].as_str().expect("a number");
        let bits: String = text
            .bytes()
            .map(|byte| {
                let alphabet = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
                let value = alphabet.iter().position(|&letter| letter == byte).expect("base64url");
                format!("{value:06b}")
            })
            .collect();
        let whole = &bits[..bits.len() / 8 * 8];
        (0..whole.len() / 4)
            .map(|place| {
                let digit = u8::from_str_radix(&whole[4 * place..][..4], 2).expect("binary");
                format!("{digit:x}")
            })
            .collect::<String>()
    };
    let (p, q) = (number("p"), number("q"));
    let text = key.to_string();
    let output = ask(
        &[],
        &lines(&[
            json!({"op": "keygen_kat", "p": p, "q": q}),
            json!({"op": "keygen_kat", "p": q, "q": p, "e": "10001"}),
            json!({"op": "keygen_kat", "p": p, "q": p}),
            json!({"op": "keycheck", "key": text}),
            json!({"op": "loadkey", "key": text}),
        ]),
    );
    assert_done(&output);
    let results: Vec<String> = answers(&output)
        .iter()
        .map(|answer| answer["result"].as_str().expect("a word").to_owned())
        .collect();
    assert_eq!(results, ["accept", "accept", "reject", "accept", "accept"]);
}

#[test]
fn lines_that_are_no_requests_are_answered_and_reported_at_the_end() {
    let requests = "\n{\"id\": 1, \"op\": \"primality\", \"value\": \"3\"}\n{\"id\": 2}\nnonsense\n[1]\n\
                    {\"id\": 5, \"op\": \"primality\", \"value\": \"xyz\"}\n{\"id\": 6, \"op\": \"verify\", \"scheme\": \"pss\"}\n";
    for options in [&[][..], &["--batch", "3"]] {
        let output = ask(options, requests);
        assert_failure(&output, 3, "5 of the lines were no requests");
        let answers = answers(&output);
        let results: Vec<&str> = answers
            .iter()
            .map(|answer| answer["result"].as_str().expect("a word"))
            .collect();
        assert_eq!(results[0], "accept");
        assert!(
            results[1..].iter().all(|result| *result == "unsupported"),
            "{results:?}"
        );
        assert_eq!(answers[4]["id"], 5);
    }
    assert_done(&ask(&[], ""));
    assert_done(&ask(&[], "\n\n"));
    assert_failure(&ask(&["--batch", "0"], ""), 2, "--batch");
    assert_failure(&ask(&["--kernel", "none"], ""), 2, "there is no kernel");
    assert_failure(&ask(&["--engines", "own"], ""), 2, "--engines");
}

#[test]
fn more_keys_and_schemes_than_are_kept_are_no_trouble() {
    let here = folder();
    let key = std::fs::read_to_string(study_key(here.path(), 1024)).expect("it was made");
    // Each salt is a scheme, and each scheme a key made ready; none of the signatures is right.
    let requests: Vec<Value> = (0..95)
        .map(|salt| json!({"op": "verify", "scheme": "pss", "salt_len": salt, "key": key, "msg": "", "sig": ""}))
        .collect();
    let text = lines(&requests).repeat(3);
    for options in [&[][..], &["--batch", "10"], &["--batch", "200"]] {
        let output = ask(options, &text);
        assert_done(&output);
        let answers = answers(&output);
        assert_eq!(answers.len(), 3 * 95);
        assert!(answers.iter().all(|answer| answer["result"] == "reject"));
    }
}
