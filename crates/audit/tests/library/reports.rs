//! Reports: what is written for other programs, and that nothing secret is in it.

use num_bigint::BigUint;
use rsalab_audit::{
    Audit, Inventory, Options, Severity,
    report::{json_lines, junit, sarif},
};
use serde_json::Value;

use crate::made::{audit, fresh_prime, inconsistent, private, private_pem, public, public_pem, rng, write};

#[test]
fn reports_say_what_was_found_and_no_secret() {
    let mut rng = rng(21);
    let folder = tempfile::tempdir().expect("a folder");
    let [shared, one, other] = [(); 3].map(|()| fresh_prime(&mut rng));
    let keys = [[shared.clone(), one.clone()], [shared.clone(), other.clone()]];
    write(folder.path(), "a <&\">.pem", private_pem(&private(&keys[0])));
    write(folder.path(), "b.pem", public_pem(&public(&keys[1])));
    write(folder.path(), "c.der", inconsistent(&private(&keys[1]), 0));
    write(folder.path(), "d.pem", &private_pem(&private(&keys[1]))[..900]);
    let report = audit(folder.path());
    let texts = [
        json_lines(&report),
        sarif(&report, "1.2.3"),
        junit(&report, Some(Severity::Medium)),
    ];

    // Neither primes nor exponents, in any base that a program writes.
    let secrets = [&shared, &one, &other].map(BigUint::clone);
    let exponents = keys.map(|key| BigUint::from_bytes_be(private(&key).d()));
    for text in &texts {
        for secret in secrets.iter().chain(&exponents) {
            for written in [
                secret.to_str_radix(10),
                secret.to_str_radix(16),
                secret.to_str_radix(16).to_uppercase(),
            ] {
                for part in [&written[8..60], &written[written.len() - 60..]] {
                    assert!(!text.contains(part));
                }
            }
        }
        assert!(!text.contains("MII"), "nothing of a file is repeated");
    }
    assert_eq!(BigUint::from_bytes_be(&report.shared_primes[0].factor), shared);

    let lines: Vec<Value> = texts[0]
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    assert_eq!(lines[0]["finding"], "shared-prime");
    assert_eq!(lines[0]["severity"], "critical");
    // The public half of the damaged key is of the second.
    assert_eq!(lines[0]["places"].as_array().map(Vec::len), Some(3));
    assert_eq!(lines[0]["keys"].as_array().map(Vec::len), Some(2));
    assert_eq!(lines[0]["keys"][0]["bits"], 2048);
    assert!(
        lines[0]["remedy"]
            .as_str()
            .is_some_and(|remedy| remedy.contains("revoke"))
    );
    let summary = &lines.last().expect("the last")["summary"];
    for (name, number) in [
        ("files", 4),
        ("keys", 3),
        ("critical", 1),
        ("high", 1),
        ("medium", 1),
        ("low", 0),
    ] {
        assert_eq!(summary[name], number, "{name}");
    }

    let sarif: Value = serde_json::from_str(&texts[1]).expect("JSON");
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let results = run["results"].as_array().expect("results");
    assert_eq!(results.len(), 3);
    for result in results {
        let index = usize::try_from(result["ruleIndex"].as_u64().expect("a number")).expect("small");
        assert_eq!(run["tool"]["driver"]["rules"][index]["id"], result["ruleId"]);
        assert_eq!(result["locations"].as_array().map(Vec::len), Some(1));
        assert!(
            ["error", "warning", "note"]
                .iter()
                .any(|level| result["level"] == *level)
        );
    }
    let uri = results[0]["locations"][0]["physicalLocation"]["artifactLocation"]["uri"].as_str();
    assert!(uri.is_some_and(|uri| uri.ends_with("/a%20%3C%26%22%3E.pem")), "{uri:?}");
    assert_eq!(results[0]["relatedLocations"].as_array().map(Vec::len), Some(2));

    let xml = &texts[2];
    assert!(xml.contains("tests=\"4\" failures=\"4\""), "{xml}");
    assert_eq!(xml.matches("<failure ").count(), 4);
    assert!(xml.contains("a &lt;&amp;&quot;&gt;.pem"));
    let mild = junit(&report, Some(Severity::Critical));
    assert!(mild.contains("tests=\"4\" failures=\"3\""), "{mild}");
    assert_eq!(mild.matches("<system-out>").count(), 2);
    let never = junit(&report, None);
    assert!(never.contains("tests=\"4\" failures=\"0\""), "{never}");
    assert_eq!(
        (
            never.matches("<system-out>").count(),
            never.matches("<failure ").count()
        ),
        (4, 0)
    );
}

#[test]
fn an_estimate_is_of_the_right_size() {
    let mut rng = rng(22);
    let folder = tempfile::tempdir().expect("a folder");
    let primes: Vec<BigUint> = (0..6).map(|_| fresh_prime(&mut rng)).collect();
    for place in 0..90 {
        let key = public(&[primes[place % 3].clone(), primes[3 + place / 3 % 3].clone()]);
        write(folder.path(), &format!("{place}.pem"), public_pem(&key));
    }
    let options = Options::default();
    let audit = Audit::new(&options);
    let estimate = audit
        .estimate(&Inventory::of(&[folder.path()]))
        .expect("there are keys");
    assert!((80..=100).contains(&estimate.keys), "{estimate:?}");
    assert!(estimate.memory > 1 << 20 && estimate.memory < 1 << 30, "{estimate:?}");
    assert!(audit.estimate(&Inventory::of(&["-"])).is_none());
    write(folder.path(), "empty/x", "");
    assert!(audit.estimate(&Inventory::of(&[folder.path().join("empty")])).is_none());
}
