//! Words in the syntax of a shell, for remedies and lists that users copy.

use std::path::Path;

/// Returns a text as one word of a shell, in quotes if it contains special characters.
pub(crate) fn word(text: &str) -> String {
    String::from_utf8_lossy(&quoted(text.as_bytes())).into_owned()
}

/// Returns the command that moves a library aside. The program `ldconfig` links to all files whose names begin with `lib`, so the new name begins
/// otherwise.
pub(crate) fn aside(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let [from, to] = [path, &path.with_file_name(format!("off.{name}"))].map(|path| word(&path.display().to_string()));
    format!("mv {from} {to}")
}

/// Returns the first word of a text, with and without its quotes. Understands the quotes that [`word`] uses for a word without control
/// characters.
pub(crate) fn first_word(text: &str) -> (&str, String) {
    let mut meaning = String::new();
    let mut is_quoted = false;
    let mut characters = text.char_indices();
    while let Some((at, character)) = characters.next() {
        match character {
            '\'' => is_quoted = !is_quoted,
            '\\' if !is_quoted => meaning.extend(characters.next().map(|(_, next)| next)),
            ' ' if !is_quoted => return (&text[..at], meaning),
            _ => meaning.push(character),
        }
    }
    (text, meaning)
}

/// Returns a word in the syntax of a shell, in quotes if it contains special characters.
///
/// A word with control characters is quoted as `$'…'`. POSIX defines these quotes since 2024, and bash, zsh and busybox had them before.
pub(crate) fn quoted(word: &[u8]) -> Vec<u8> {
    let is_bare = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-+:@%,=".contains(byte);
    let acts = |byte: &u8| *byte < b' ' || *byte == 0x7F;
    if !word.is_empty() && word.iter().all(is_bare) {
        return word.to_vec();
    }
    if !word.iter().any(acts) {
        let mut quoted = b"'".to_vec();
        for &byte in word {
            match byte {
                b'\'' => quoted.extend(b"'\\''"),
                _ => quoted.push(byte),
            }
        }
        quoted.push(b'\'');
        return quoted;
    }
    let mut quoted = b"$'".to_vec();
    for &byte in word {
        match byte {
            b'\'' | b'\\' => quoted.extend([b'\\', byte]),
            _ if acts(&byte) => quoted.extend(format!("\\{byte:03o}").bytes()),
            _ => quoted.push(byte),
        }
    }
    quoted.push(b'\'');
    quoted
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    #[test]
    fn a_shell_reads_words_as_they_were() {
        let words: [&[u8]; 9] = [
            b"/plain/path-1.2",
            b"a b",
            b"it's",
            b"",
            b"$HOME `id` \"x\" * ? ~ ! # & ; | <>()",
            b"two\nlines\n",
            b"\x1b[31m'\\n\t\x7f",
            b"back\\slash",
            b"\xff\xfe \xc3\xa4",
        ];
        let line: Vec<Vec<u8>> = words.iter().map(|word| quoted(word)).collect();
        let script = [&b"printf '%s\\0' "[..], &line.join(&b' ')].concat();
        let output = Command::new("bash")
            .arg("-c")
            .arg(OsStr::from_bytes(&script))
            .output()
            .expect("a shell");
        let read: Vec<&[u8]> = output.stdout.split(|&byte| byte == 0).collect();
        assert_eq!(read[..words.len()], words);
        assert!(
            line.iter().flatten().all(|byte| *byte >= b' '),
            "nothing acts on a terminal"
        );
    }

    #[test]
    fn the_first_word_ends_at_a_blank_outside_of_quotes() {
        for name in ["plain.json", "two words.json", "it's.json", "*glob*", "a\\b"] {
            let text = format!("{} PROGRAM", word(name));
            assert_eq!(first_word(&text), (&*word(name), name.into()));
        }
        assert_eq!(first_word("alone"), ("alone", "alone".into()));
    }
}
