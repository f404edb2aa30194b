//! Chores of the repository, run as `cargo xtask CHORE`.
#![forbid(unsafe_code)]

use std::{path::Path, process::ExitCode};

use clap::{Parser, Subcommand};

mod bom;
mod run_tests;
mod tidy;

/// Chores of the repository.
#[derive(Parser)]
#[command(name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Fail on an import upwards between layers, `unsafe` where it may not be, a broken link, and other untidiness.
    Tidy,
    /// Build tests with Cargo and run their programs side by side; print the slowest tests and what was skipped.
    Test {
        /// Also run the examples in documentation.
        #[arg(long)]
        doctests: bool,
        /// Arguments for `cargo test` (packages, targets, features, a profile); after `--`, for each program (the part
        /// of a name, or `--ignored`).
        #[arg(num_args = 0.., allow_hyphen_values = true)]
        build: Vec<String>,
    },
    /// Write the table of engines, and excerpts of files, into the documents that have them.
    Documents,
    /// Print the licences of what is linked into the library of a package.
    Notices {
        /// The package, such as `rsalab-c`.
        package: String,
    },
    /// Print the software bill of materials of a package, as JSON of CycloneDX.
    Sbom {
        /// The package, such as `rsalab`.
        package: String,
    },
    /// Write licences and software bill of materials of the programs that a wheel carries.
    Bom(bom::Request),
}

fn main() -> ExitCode {
    // What follows `--` is for test programs. Clap would take it for more of the arguments for Cargo.
    let (arguments, run) = split(std::env::args().collect());
    let chore = Arguments::parse_from(arguments).chore;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the repository");
    let findings = match chore {
        Chore::Tidy => tidy::run(root),
        Chore::Notices { package } => return print(bom::notices(root, &package)),
        Chore::Sbom { package } => return print(bom::sbom(root, &package)),
        Chore::Bom(request) => bom::write(root, &request).map(|()| Vec::new()),
        Chore::Test { doctests, build } => {
            return test(&run_tests::Request { build, run, doctests });
        }
        Chore::Documents => tidy::write_documents(root).map(|()| Vec::new()),
    };
    match findings {
        Ok(findings) if findings.is_empty() => {
            println!("xtask: done, nothing to mend");
            ExitCode::SUCCESS
        }
        Ok(findings) => {
            for finding in &findings {
                eprintln!("xtask: {finding}");
            }
            eprintln!("xtask: {} finding(s)", findings.len());
            ExitCode::FAILURE
        }
        Err(error) => could_not_run(&error),
    }
}

/// The arguments before and after the first `--`.
fn split(mut arguments: Vec<String>) -> (Vec<String>, Vec<String>) {
    let end = arguments
        .iter()
        .position(|argument| argument == "--")
        .unwrap_or(arguments.len());
    let run = arguments.split_off(end).into_iter().skip(1).collect();
    (arguments, run)
}

fn test(request: &run_tests::Request) -> ExitCode {
    match run_tests::run(request) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => could_not_run(&error),
    }
}

/// Prints a text, or why there is none.
fn print(text: anyhow::Result<String>) -> ExitCode {
    match text {
        Ok(text) => {
            println!("{}", text.trim_end());
            ExitCode::SUCCESS
        }
        Err(error) => could_not_run(&error),
    }
}

fn could_not_run(error: &anyhow::Error) -> ExitCode {
    eprintln!("xtask could not run: {error:#}");
    ExitCode::from(2)
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn arguments_of_a_build_and_of_the_programs_are_told_apart() {
        Arguments::command().debug_assert();
        let parsed = |line: &str| {
            let (arguments, run) = split(line.split(' ').map(str::to_owned).collect());
            match Arguments::parse_from(arguments).chore {
                Chore::Test { doctests, build } => (doctests, build, run),
                _ => panic!("another chore"),
            }
        };
        let (doctests, build, run) = parsed("xtask test --doctests --locked --test a -- --ignored --skip timing::");
        assert!(doctests);
        assert_eq!(build, ["--locked", "--test", "a"]);
        assert_eq!(run, ["--ignored", "--skip", "timing::"]);
        let (doctests, build, run) = parsed("xtask test -- name");
        assert!(!doctests && build.is_empty());
        assert_eq!(run, ["name"]);
    }
}
