//! Explains processes that LLVM ends because two copies of it are in one process. Drivers of Mesa, compilers and many programs contain LLVM.

use crate::report::{Dropped, Kind, codes};

/// Parts of the messages with which LLVM ends a process if two copies of it register an option.
const MESSAGES: [&str; 2] = [
    "inconsistency in registered CommandLine options",
    "registered more than once!",
];

/// Adds the cause to the finding about a crash, if the driver printed a message of LLVM about two copies.
pub(super) fn explain(dropped: &mut Dropped) {
    let codes = [codes::PROGRAM_CRASHED.name, codes::PROGRAM_EXITED.name];
    let is_message = |text: &str| MESSAGES.iter().any(|message| text.contains(message));
    let mut facts = dropped.findings.iter().filter_map(|fact| fact.words(&Kind::Printed));
    if !facts.any(is_message) || !codes.contains(&dropped.code.as_str()) {
        return;
    }
    let reason = std::mem::take(&mut dropped.reason);
    dropped.findings.insert(0, format!("where it ended: {reason}"));
    dropped.reason = "Two copies of LLVM in the process registered the same option, and LLVM ended the process for that. One copy is of the driver or layer; \
         the other one is of the program, of one of its libraries or of another driver."
        .into();
    dropped.advice = format!(
        "Use a program and drivers that share one libLLVM, such as those of the distribution, or hide the symbols of a copy that is linked into the \
         program (-Wl,--exclude-libs,ALL). If that is not possible: {}",
        dropped.advice
    );
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::report::Fact;

    #[test]
    fn two_copies_of_llvm_are_no_fault_of_the_driver_alone() {
        let found = |line: &str| {
            let mut found = codes::PROGRAM_CRASHED.about("libvulkan_radeon.so");
            found.findings.push(Fact::printed(line));
            explain(&mut found);
            found.reason
        };
        assert!(found("LLVM ERROR: inconsistency in registered CommandLine options").starts_with("Two copies"));
        assert_eq!(found("LLVM ERROR: out of memory"), codes::PROGRAM_CRASHED.meaning);
    }
}
