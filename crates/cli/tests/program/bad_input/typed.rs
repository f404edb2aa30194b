//! Command lines that ask for what does not exist or makes no sense.

use super::{Row, refuse, split};
use crate::support::{assert_failure, folder, run};

#[test]
fn what_is_typed() {
    let here = folder();
    #[rustfmt::skip]
    let rows: &[Row<'_>] = &[
        ("studdy", 2, &["'studdy'", "'study'"]),
        ("bench --op privat --engines own", 2, &["'privat'", "'private'"]),
        ("bench --op private", 2, &["--engines"]),
        ("bench --op private --engines opensl", 2, &["'opensl'", "did you mean 'openssl'?"]),
        ("bench --op private --engines zzzz", 2, &["'zzzz'", "there are own, textbook"]),
        ("bench --op private --engines ''", 2, &["''", "there are own, textbook"]),
        ("bench --op private --engines own:", 2, &["'own:'", "did you mean 'own'?"]),
        ("bench --op private --engines own:mont52x8", 2, &["'mont52x8'", "did you mean 'mont52x8_"]),
        ("vectors --engines own,own", 2, &["'own'", "twice", "once"]),
        ("vectors --engines gnp", 2, &["'gnp'", "did you mean 'gmp'?"]),
        ("vectors --engines own:fast", 2, &["'fast'", "there are mont"]),
        ("study smoke --engines opensl", 2, &["'opensl'", "did you mean 'openssl'?"]),
        ("study smoke --engines own,own", 2, &["own", "listed twice"]),
        ("study smoke --engines own:", 2, &["'own:'", "did you mean 'own'?"]),
        ("study smoke --engines own:fast", 2, &["'fast'", "there are mont"]),
        ("study smoke --kernel mont64x1_portabel", 2, &["'mont64x1_portabel'", "did you mean 'mont64x1_portable'?"]),
        ("study smoke --kernel mont64x1_portable --engines textbook", 2, &["--kernel", "leave --kernel out"]),
        ("worker --engine gmp", 2, &["'gmp'", "'rsalab engines'"]),
        ("worker --engine own --kernel fast", 2, &["'fast'", "there are mont"]),
        ("study quikc", 2, &["'quikc'", "did you mean 'quick'?"]),
        ("study zzzz", 2, &["'zzzz'", "the presets are quick"]),
        ("study ''", 2, &["''", "the presets are quick"]),
        ("study smoke --threads 0", 2, &["--threads", "'0'", "1 to 1024"]),
        ("study smoke --threads 1000000", 2, &["--threads", "'1000000'", "1 to 1024"]),
        ("study smoke --threads -1", 2, &["--threads", "'-1'", "1 to 1024"]),
        ("study smoke --threads 2,2", 2, &["--threads", "2 is listed twice"]),
        ("study smoke --repeats 0", 2, &["--repeats", "'0'", "1 to 1000000000000"]),
        ("study smoke --repeats -3", 2, &["--repeats", "'-3'", "1 to 1000000000000"]),
        ("study smoke --repeats 18446744073709551615", 2, &["--repeats", "1 to 1000000000000"]),
        ("study smoke --bits 100", 2, &["--bits", "'100'", "256 to 16384"]),
        ("study smoke --bits 1025", 2, &["--bits", "'1025'", "even", "1026"]),
        ("study smoke --seed abc", 2, &["--seed", "'abc'", "64 hexadecimal digits"]),
        ("study smoke --seconds 0", 2, &["--seconds", "'0'", "0.1 to 86400"]),
        ("study smoke --seconds -5", 2, &["--seconds", "'-5'", "0.1 to 86400"]),
        ("study smoke --give-up-after inf", 2, &["--give-up-after", "0.1 to 86400"]),
        ("bench --op private --engines own --threads 0", 2, &["--threads", "'0'", "1 to 1024"]),
        ("bench --op private --engines own --threads 1000000", 2, &["--threads", "'1000000'", "1 to 1024"]),
        ("bench --op private --engines own --threads 1.5", 2, &["--threads", "'1.5'"]),
        ("bench --op private --engines own --bits 254", 2, &["--bits", "'254'", "256 to 16384"]),
        ("bench --op private --engines own --bits 1023", 2, &["--bits", "'1023'", "even"]),
        ("bench --op private --engines own --bits 16386", 2, &["--bits", "'16386'", "256 to 16384"]),
        ("bench --op private --engines own --bits 99999999999999999999", 2, &["--bits", "256 to 16384"]),
        ("bench --op private --engines own --bits ''", 2, &["--bits"]),
        ("bench --op private --engines own --batch 0", 2, &["--batch", "'0'", "1 to 65536"]),
        ("bench --op private --engines own --launches 0", 2, &["--launches", "'0'", "1 to 1000"]),
        ("bench --op private --engines own --seconds nan", 2, &["--seconds", "0.1 to 86400"]),
        ("bench --op private --engines own --symbols 10", 2, &["--symbols", "leave it out"]),
        ("bench --op text_encrypt --engines own --symbols 0", 2, &["--symbols", "'0'", "1 to 100000000"]),
        ("bench --op text_encrypt --engines own --symbols 100000001", 2, &["--symbols", "1 to 100000000"]),
        ("bench --op text_encrypt --engines own --batch 2", 2, &["'batch'", "leave the key out"]),
        ("vectors --engines own --bits 513", 2, &["--bits", "'513'"]),
        ("vectors --engines own --count 0", 2, &["--count", "'0'", "1 to 1000000"]),
        ("keygen", 2, &["--out"]),
        ("keygen --out ''", 2, &["--out"]),
        ("keygen --out key --bits 1024", 2, &["1024", "--insecure-size"]),
        ("keygen --out key --bits 1025 --insecure-size", 2, &["'1025'", "even"]),
        ("keygen --out key --bits 0", 2, &["'0'", "512 to 16384"]),
        ("keygen --out key --bits 256 --insecure-size", 2, &["'256'", "512 to 16384"]),
        ("study smoke --nice 20", 2, &["--nice", "20", "0..=19"]),
        ("keygen --out key --e 4", 2, &["'4'", "odd"]),
        ("keygen --out key --e 1", 2, &["'1'", "from 3"]),
        ("keygen --out key --e -3", 2, &["'-3'"]),
        ("keygen --out key --e 18446744073709551617", 2, &["below 2^64"]),
        ("keygen --out key --format pkcs8", 2, &["'pkcs8'", "pkcs8-pem"]),
        ("keygen --out key --public-out key", 2, &["both name key", "a file for each"]),
        ("keygen --out key --kernel fast", 2, &["'fast'", "there are mont"]),
        ("encrypt", 2, &["--key"]),
        ("encrypt --key k --threads x", 2, &["--threads", "'x'"]),
        ("encrypt --key k --threads 0", 2, &["--threads", "'0'", "1 to 1024"]),
        ("encrypt --key k --text a file", 2, &["--text"]),
        ("decrypt --key k --json", 2, &["--trace"]),
        ("decrypt --key k --threads 1000000", 2, &["--threads", "1 to 1024"]),
        ("machine --quiet --verbose", 2, &["--verbose"]),
        ("machine --jsn", 2, &["'--jsn'", "'--json'"]),
        ("completions tcsh", 2, &["'tcsh'", "bash"]),
        ("resume", 2, &["<DIR>"]),
        ("report", 2, &["<DIR>"]),
        ("'a\nb\nc\nd\ne\nf\ng\nh'", 2, &["unrecognized"]),
    ];
    refuse(here.path(), rows);

    // It tells what it was told before it gives up.
    let typed = b"vectors --engines textbook:fast --bits 512 --count 1 --json --quiet";
    let output = run(here.path(), split(typed));
    assert_failure(&output, 6, "textbook:fast was not tried");
    assert_failure(&output, 6, "'rsalab engines'");
}
