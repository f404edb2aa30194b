//! Kernels that the environment leaves out.

use serde_json::Value;

use crate::support::{assert_done, assert_failure, folder, rsalab, stdout};

const VARIABLE: &str = "RSALAB_DISABLE_KERNELS";
const LAST: &str = "mont64x1_portable";

#[test]
fn disabled_kernels_are_not_chosen_and_are_refused() {
    let here = folder();
    let listing = |disabled: &str| -> Value {
        let mut command = rsalab(here.path());
        // As on a machine without a device, whatever this one has.
        command.env("OCL_ICD_VENDORS", "/none");
        command.env("CUDA_VISIBLE_DEVICES", "-1");
        let output = command
            .args(["engines", "--json"])
            .env(VARIABLE, disabled)
            .output()
            .expect("the program starts");
        assert_done(&output);
        serde_json::from_str(stdout(&output)).expect("it is JSON")
    };
    let names = |listing: &Value| -> Vec<String> {
        let kernels = listing["kernels"].as_array().expect("it lists kernels");
        let names = kernels.iter().map(|kernel| kernel["name"].as_str());
        names.map(|name| name.unwrap().to_owned()).collect()
    };
    let mut others = names(&listing(""));
    others.retain(|name| name != LAST);
    let disabled = listing(&others.join(", "));
    for kernel in disabled["kernels"].as_array().unwrap() {
        let missing = (kernel["name"] != LAST).then_some("it is disabled");
        assert_eq!(kernel["missing"].as_str(), missing, "{kernel}");
    }
    let own = &disabled["engines"][0];
    assert_eq!((&own["name"], &own["info"]["cpu_path"]), (&"own".into(), &LAST.into()));
    let dispatch = disabled["dispatch"].as_array().unwrap();
    assert_eq!(dispatch.len(), 2, "each operation at every length: {dispatch:?}");
    for row in dispatch {
        assert_eq!(
            (&row["from"], &row["to"], &row["kernel"]),
            (&1.into(), &Value::Null, &LAST.into())
        );
    }

    let keygen = |disabled: &str| {
        let mut command = rsalab(here.path());
        command.args([
            "keygen",
            "--bits",
            "2048",
            "--kernel",
            "mont52x8_portable",
            "--out",
            "key.pem",
        ]);
        command.env(VARIABLE, disabled).output().expect("the program starts")
    };
    assert_failure(&keygen("mont52x8_portable"), 6, "it is disabled");
    assert_failure(&keygen("mont1x1_abacus"), 2, "mont1x1_abacus");
    assert_failure(&keygen(LAST), 2, "cannot be disabled");
    assert!(!here.path().join("key.pem").exists());
}
