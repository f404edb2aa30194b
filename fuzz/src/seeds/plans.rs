//! Plans: one that has everything, and one for each reason to refuse one.

use super::texts;

/// Grids that are taken, with keys that some of them have.
const TAKEN: [&str; 12] = [
    "ops",
    "operations = [\"private\", \"public\"]\nbits = [1024, 2048]\nengines = \"present\"\nthreads = \"each\"\nmessage = 512\n",
    "operations = [\"private\"]\nbits = [2048]\nengines = [\"own\", \"openssl\"]\nthreads = \"doubling\"\nbatch = [1, 8]\nmode = \"throughput\"\nmessage = \"byte-shorter\"\n",
    "operations = [\"sign\"]\nbits = [4096]\nprimes = [2, 3]\nthreads = [1, 2]\n",
    "operations = [\"private\"]\nbits = [1024]\nbatch = [8]\nkeys = [1, 2, 8]\nbare = true\n",
    "operations = [\"sign_message\"]\nbits = [1024]\nmessage_bytes = [1, 1000]\n",
    "operations = [\"text_encrypt\", \"text_decrypt\"]\nbits = [1024]\nsymbols = [10, 1000]\nblock_symbols = 10\n",
    "operations = [\"text_encrypt\"]\nbits = [1024]\nmessages = [1, 5]\n",
    "operations = [\"text_encrypt\"]\nbits = [1024]\nportions = 3\nmessage = 900\n",
    "operations = [\"private\"]\nbits = [1024]\nmode = \"latency\"\nexponent = \"random\"\n",
    "operations = [\"verify\"]\nbits = [1024]\nmode = \"concurrent\"\nexponent = 3\nmeasure = { repeats = 100, block_calls = 7 }\n",
    "article = \"text-threads\"\noperations = [\"keygen\"]\nbits = [512]\nengines = [\"own/mont64x1_portable\"]\n",
];

/// Grids that are refused, each for another reason.
const REFUSED: [&str; 43] = [
    "operations = []\nbits = [1024]\n",
    "operations = [\"private\", \"private\"]\nbits = [1024]\n",
    "operations = [\"private\"]\nbits = []\n",
    "operations = [\"private\"]\nbits = [1023]\n",
    "operations = [\"private\"]\nbits = [8]\n",
    "operations = [\"private\"]\nbits = [1024]\nthreads = []\n",
    "operations = [\"private\"]\nbits = [1024]\nthreads = [0]\n",
    "operations = [\"private\"]\nbits = [1024]\nthreads = \"some\"\n",
    "operations = [\"private\"]\nbits = [1024]\nthreads = 7\n",
    "operations = [\"private\"]\nbits = [1024]\nbatch = [100000]\n",
    "operations = [\"private\"]\nbits = [1024]\nengines = []\n",
    "operations = [\"private\"]\nbits = [1024]\nengines = [\"ownn\"]\n",
    "operations = [\"private\"]\nbits = [1024]\nengines = [\"own/\"]\n",
    "operations = [\"private\"]\nbits = [1024]\nengines = [\"quite another\"]\n",
    "operations = [\"private\"]\nbits = [1024]\nengines = \"all\"\n",
    "operations = [\"private\"]\nbits = [1024]\nexponent = 4\n",
    "operations = [\"public\"]\nbits = [4096]\nprimes = [3]\n",
    "operations = [\"private\"]\nbits = [1024]\nprimes = [5]\n",
    "operations = [\"private\"]\nbits = [4096]\nprimes = [9]\n",
    "operations = [\"private\"]\nbits = [4096]\nprimes = [3]\nexponent = \"random\"\n",
    "operations = [\"public\"]\nbits = [1024]\nkeys = [2]\n",
    "operations = [\"private\"]\nbits = [1024]\nkeys = [1000]\n",
    "operations = [\"private\"]\nbits = [1024]\nkeys = [3]\nbatch = [8]\n",
    "operations = [\"private\"]\nbits = [4096]\nkeys = [2]\nbatch = [8]\nprimes = [3]\n",
    "operations = [\"private\"]\nbits = [1024]\nmessage_bytes = [1]\n",
    "operations = [\"private\", \"sign_message\"]\nbits = [1024]\nmessage_bytes = [1]\n",
    "operations = [\"sign_message\"]\nbits = [1024]\nmessage_bytes = [4194304]\nbatch = [4096]\n",
    "operations = [\"sign\"]\nbits = [1024]\nmessage = 7\n",
    "operations = [\"private\"]\nbits = [1024]\nmessage = 2000\n",
    "operations = [\"private\"]\nbits = [1024]\nmessage = -2\n",
    "operations = [\"private\"]\nbits = [1024]\nmessage = \"x\"\n",
    "operations = [\"private\"]\nbits = [1024]\nsymbols = [1]\n",
    "operations = [\"private\"]\nbits = [1024]\nmessages = [1]\n",
    "operations = [\"private\"]\nbits = [1024]\nportions = 1\n",
    "operations = [\"private\"]\nbits = [1024]\nblock_symbols = 1\n",
    "operations = [\"private\", \"text_encrypt\"]\nbits = [1024]\nsymbols = [1]\n",
    "operations = [\"text_encrypt\"]\nbits = [1024]\nsymbols = [1]\nmessages = [1]\n",
    "operations = [\"text_encrypt\"]\nbits = [1024]\nportions = 3\nblock_symbols = 2\n",
    "operations = [\"text_encrypt\"]\nbits = [1024]\nsymbols = [1]\nbatch = [2]\n",
    "operations = [\"text_encrypt\"]\nbits = [1024]\nsymbols = [1]\nblock_symbols = 500\n",
    "operations = [\"text_encrypt\"]\nbits = [16384]\nsymbols = [100000000]\nblock_symbols = 1\n",
    "operations = [\"private\"]\nbits = [1024]\nmode = \"latency\"\nthreads = [2]\n",
    "operations = [\"private\"]\nbits = [1024]\nmode = \"concurrent\"\nbatch = [2]\n",
];

/// Settings of a plan's measurements, right and wrong.
const MEASURES: [&str; 12] = [
    "precision = 0.5\nconfidence = 0.99\nbudget_s = 1.0\nmin_blocks = 2\nmax_blocks = 3\nblock_ms = 10\ndiscard_ms = 1\nmax_samples = 7\n",
    "precision = 2.0\n",
    "confidence = 0.1\n",
    "budget_s = 0.0\n",
    "min_blocks = 0\n",
    "min_blocks = 1000001\nmax_blocks = 1000002\n",
    "max_blocks = 1\n",
    "block_ms = 2000\n",
    "block_calls = 0\n",
    "discard_ms = 2000\n",
    "max_samples = 0\n",
    "repeats = 0\n",
];

/// Plans of studies.
pub fn plans() -> Vec<Vec<u8>> {
    let grid = |grid: &&str| format!("[[grid]]\n{grid}").into_bytes();
    let good = TAKEN[1];
    let measured = |measure: &&str| format!("[measure]\n{measure}[[grid]]\n{good}").into_bytes();
    let texts_of = |text: &str| format!("text = \"{text}\"\n[[grid]]\n{}", TAKEN[6]).into_bytes();
    let mut all: Vec<Vec<u8>> = TAKEN.iter().chain(&REFUSED).map(grid).collect();
    all.extend(MEASURES.iter().map(measured));
    all.push(
        format!(
            "title = \"t\"\nnice = 7\nseed = \"{}\"\n[measure]\nbudget_s = 1.0\n[[grid]]\n{}[[grid]]\n{}",
            "5a".repeat(32),
            TAKEN[1],
            TAKEN[5]
        )
        .into_bytes(),
    );
    all.extend([
        texts_of(&"x".repeat(1000)),
        texts_of("short"),
        texts_of(""),
        format!("text = \"x\"\n[[grid]]\n{good}").into_bytes(),
        format!("nice = 20\n[[grid]]\n{good}").into_bytes(),
        format!("seed = \"00\"\n[[grid]]\n{good}").into_bytes(),
        format!("title = 7\n[[grid]]\n{good}").into_bytes(),
        format!("article = \"none\"\n[[grid]]\n{good}").into_bytes(),
        format!("[[grid]]\n{good}measure = {{ min_blocks = 0, x = 1 }}\n").into_bytes(),
        format!("[[grid]]\n{good}measure = {{ min_blocks = 0 }}\n").into_bytes(),
        format!("# c = 1\n[[grid]]\n{good}bare = \"x\"\n").into_bytes(),
        format!("[[grid]]\n{good}\"odd key\" = 1\n").into_bytes(),
        format!(
            "[[grid]]\n{}",
            good.replace(
                "bits = [1024, 2048]",
                &format!("bits = {:?}", (256..1500).step_by(2).collect::<Vec<_>>())
            )
            .replace("\"each\"", &format!("{:?}", (1..300).collect::<Vec<_>>()))
        )
        .into_bytes(),
    ]);
    // As files: with a comment first, or no text.
    all.extend([
        format!("# a plan\n[[grid]]\n{good}").into_bytes(),
        format!("# -----BEGIN PRIVATE KEY-----\n[[grid]]\n{good}").into_bytes(),
        b"# \xff\n".to_vec(),
        format!("#{}", "x".repeat(1 << 20)).into_bytes(),
    ]);
    all.extend(texts(&[
        "",
        "title = \"t\"\n",
        "grid = 7\n",
        "[grid]\n",
        "[[grid]\n",
        "a = \"b",
        "[[grid]]\noperations = [\n\"x\",\n",
    ]));
    all
}
