//! Chores of the repository, run as `cargo xtask CHORE`.
#![forbid(unsafe_code)]

use std::{path::Path, process::ExitCode};

use clap::{Parser, Subcommand};

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
}

fn main() -> ExitCode {
    let Chore::Tidy = Arguments::parse().chore;
    let root = Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("xtask lies in the repository");
    match tidy::run(root) {
        Ok(findings) if findings.is_empty() => {
            println!("tidy: nothing to complain of");
            ExitCode::SUCCESS
        }
        Ok(findings) => {
            for finding in &findings {
                eprintln!("tidy: {finding}");
            }
            eprintln!("tidy: {} finding(s)", findings.len());
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("tidy could not run: {error:#}");
            ExitCode::from(2)
        }
    }
}
