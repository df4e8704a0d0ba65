//! Finds the C++ exception of a process that `std::terminate` ended, in the memory of the process.
//!
//! The layout of exceptions belongs to the ABI for C++ of 64-bit x86 and Arm, and is the same in libstdc++ and libc++. The stack has a
//! pointer to the part that the unwinder uses, which begins with a fixed class. The other parts are at fixed distances from it.

use super::Exception;
use super::memory::Memory;

/// Classes of exceptions that libstdc++ and libc++ throw.
const CLASSES: [u64; 2] = [u64::from_be_bytes(*b"GNUCC++\0"), u64::from_be_bytes(*b"CLNGC++\0")];
/// Upper bound on the number of words of a stack that are searched.
const MOST_WORDS: u64 = 2048;
/// Size of a word in bytes.
const WORD: u64 = 8;
/// Distances in bytes from the part of the unwinder: back to the pointer to the type and to the number of handlers, and ahead to the object.
const TYPE: u64 = 80;
const HANDLERS: u64 = 40;
const OBJECT: u64 = 32;
/// Upper bound on the number of bytes of a type's name or of a message.
const LONGEST: usize = 400;

/// Returns the exception that a thread handles, whose stack begins at `sp`. Returns `None` if the thread handles no exception.
pub(super) fn find(memory: &Memory, sp: u64) -> Option<Exception> {
    let start = sp.next_multiple_of(WORD);
    (0..MOST_WORDS).find_map(|place| {
        let at = memory.word(start.wrapping_add(place * WORD), WORD as usize)?;
        of_unwinder(memory, at)
    })
}

/// Returns the exception whose part for the unwinder is at an address.
fn of_unwinder(memory: &Memory, at: u64) -> Option<Exception> {
    let word = |at: u64| memory.word(at, WORD as usize);
    if !at.is_multiple_of(WORD) || at < TYPE || !CLASSES.contains(&word(at)?) {
        return None;
    }
    // `std::terminate` is called after a handler began. The memory of an exception that was handled before has no handler.
    let handlers = memory.word(at - HANDLERS, 4)? as u32 as i32;
    let name = text(memory, word(word(at - TYPE)?.wrapping_add(WORD))?)?;
    if handlers == 0 {
        return None;
    }
    let object = at.wrapping_add(OBJECT);
    // A thrown text begins with a pointer to its characters. Exceptions of the standard library and most others have a message after the pointer to
    // their functions.
    let message = match readable(&name).as_str() {
        "const char *" | "char *" | "std::string" => word(object),
        _ => word(object.wrapping_add(WORD)),
    };
    Some(Exception {
        kind: readable(name.strip_prefix('*').unwrap_or(&name)),
        message: message.and_then(|at| text(memory, at)),
    })
}

/// Returns the text at an address. Returns `None` if it is empty, not UTF-8, too long, or contains a control character.
fn text(memory: &Memory, at: u64) -> Option<String> {
    let bytes = memory.bytes(at, LONGEST);
    let end = bytes.iter().position(|&byte| byte == 0)?;
    let text = std::str::from_utf8(&bytes[..end]).ok()?.trim();
    let is_text = !text.is_empty()
        && !text
            .chars()
            .any(|character| character.is_control() && character != '\n');
    is_text.then(|| text.replace('\n', " "))
}

/// Types with a short name of their own in the ABI.
const SHORT: [(&str, &str); 6] = [
    ("PKc", "const char *"),
    ("Pc", "char *"),
    ("Ss", "std::string"),
    ("i", "int"),
    ("j", "unsigned int"),
    ("NSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE", "std::string"),
];

/// Returns the name of a type as it is written in a program. Returns names of templates in the form of the ABI.
fn readable(name: &str) -> String {
    if let Some((_, known)) = SHORT.iter().find(|(short, _)| *short == name) {
        return (*known).into();
    }
    parts(name).map_or_else(|| name.into(), |parts| parts.join("::"))
}

/// Returns the parts of a name without templates.
fn parts(name: &str) -> Option<Vec<&str>> {
    let (mut rest, is_nested) = match name.strip_prefix('N') {
        Some(rest) => (rest.strip_suffix('E')?, true),
        None => (name, false),
    };
    let mut parts = Vec::new();
    if let Some(after) = rest.strip_prefix("St") {
        parts.push("std");
        rest = after;
    }
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        let length: usize = rest[..digits].parse().ok()?;
        let part = rest.get(digits..digits.checked_add(length)?)?;
        // The name of an unnamed namespace begins in this way.
        parts.push(if part.starts_with("_GLOBAL__N") {
            "(unnamed)"
        } else {
            part
        });
        rest = &rest[digits + length..];
    }
    (is_nested || parts.len() <= 2).then_some(parts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_written_as_in_programs() {
        for (name, expected) in [
            ("St13runtime_error", "std::runtime_error"),
            ("N2vk11SystemErrorE", "vk::SystemError"),
            (
                "NSt10filesystem7__cxx1116filesystem_errorE",
                "std::filesystem::__cxx11::filesystem_error",
            ),
            ("N12_GLOBAL__N_14OopsE", "(unnamed)::Oops"),
            ("4Oops", "Oops"),
            ("i", "int"),
            ("3BoxIiE", "3BoxIiE"),
            ("99Oops", "99Oops"),
        ] {
            assert_eq!(readable(name), expected);
        }
    }
}
