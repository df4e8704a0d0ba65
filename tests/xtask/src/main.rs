//! Runs the subcommands of `xtask`. The scripts of `make/` call the subcommands to examine the sources.

use std::path::Path;
use std::process::ExitCode;
use xtask::tree::Tree;
use xtask::{abi, contents, documents, interface, licences, mutants};

const USAGE: &str = "\
xtask documents [--check]   write the tables of the documents and target/MATRIX.md, or fail where a document is not what the sources give
xtask abi                   print layouts, values and signatures of the sources as JSON, in the notation of C
xtask interface LIBRARY     fail where names, their versions or the libc that a built library needs are not what is promised
xtask symbols               add what a header brought to the list of released names
xtask contents EPOCH        print what is inside, as SPDX 2.3
xtask licences              print the crates of an unpacked archive as paragraphs of debian/copyright
xtask mutants FOLDER FILE…  print the possible mutants of Rust sources as JSON";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let tree = match Tree::around(&std::env::current_dir().unwrap_or_default()) {
        Ok(tree) => tree,
        Err(error) => return failed(&[error]),
    };
    let done = match words.as_slice() {
        ["documents"] => documents::write(&tree),
        ["documents", "--check"] => documents::check(&tree),
        ["abi"] => abi::print(&tree).map_err(|error| vec![error]),
        ["interface", library] => return interface::run(&tree, library),
        ["symbols"] => interface::add_symbols(&tree).map_err(|error| vec![error]),
        ["contents", epoch] => contents::print(&tree, epoch).map_err(|error| vec![error]),
        ["licences"] => licences::print(&tree).map_err(|error| vec![error]),
        ["mutants", folder, files @ ..] => mutants::print(Path::new(folder), files).map_err(|error| vec![error]),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(3);
        }
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(errors) => failed(&errors),
    }
}

fn failed(errors: &[String]) -> ExitCode {
    for error in errors {
        eprintln!("error: {error}");
    }
    ExitCode::FAILURE
}
