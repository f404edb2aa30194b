//! The examples of the README and of the book that are marked as tested are typed in as they stand there.

use std::{
    env, fs,
    path::{Path, PathBuf},
    process::Command,
};

use crate::support::{folder, program};

/// A block of commands follows this line.
const MARK: &str = "<!-- tested -->\n```sh\n";

#[test]
fn the_examples_of_the_readme_work() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    run_examples(&[root.join("README.md")]);
}

#[test]
fn the_examples_of_the_book_work() {
    let book = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/src");
    let pages = ["tutorials", "how-to", "reference", "methodology"]
        .iter()
        .flat_map(|part| fs::read_dir(book.join(part)).expect("the book has this part"))
        .map(|page| page.expect("a readable folder").path())
        .filter(|page| page.extension().is_some_and(|ending| ending == "md"))
        .collect::<Vec<_>>();
    run_examples(&pages);
}

/// Runs every block of these documents in a folder of its own.
fn run_examples(documents: &[PathBuf]) {
    let program = program();
    let program_folder = program.parent().expect("a program lies in a folder");
    let others = env::var_os("PATH").unwrap_or_default();
    let path = env::join_paths([program_folder.to_owned()].into_iter().chain(env::split_paths(&others)))
        .expect("folders without a colon");
    let mut examples = 0;
    for document in documents {
        let text = fs::read_to_string(document).expect("a page in UTF-8");
        for rest in text.split(MARK).skip(1) {
            let block = rest.split("```").next().unwrap_or_default();
            let here = folder();
            let run = Command::new("sh")
                .args(["-eu", "-c", block])
                .current_dir(here.path())
                .env("PATH", &path)
                .output()
                .expect("there is a shell");
            assert!(
                run.status.success(),
                "{}:\n{block}\n{}",
                document.display(),
                String::from_utf8_lossy(&run.stderr)
            );
            examples += 1;
        }
    }
    assert!(examples > 0, "no example is marked as tested");
}
