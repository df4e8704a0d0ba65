//! Common mistakes in variables that list paths: quotes, `~` and `$` that only a shell would expand, blanks, wrong separators, and
//! libraries instead of manifests.

use std::path::Path;

/// A mistake: the function that detects it, and the remedy.
struct Mistake {
    is_in: fn(&str) -> bool,
    advice: &'static str,
}

const MISTAKES: [Mistake; 11] = [
    Mistake {
        is_in: |word| word.contains(['"', '\'']),
        advice: "Write the path without quotes, which count as part of its name",
    },
    Mistake {
        is_in: |word| word.starts_with('~'),
        advice: "Write the path in full: nothing replaces ~ by a home folder here",
    },
    Mistake {
        is_in: |word| word.contains('$'),
        advice: "Write the path in full: nothing replaces $ and a name by a value here",
    },
    Mistake {
        is_in: |word| word.contains('*'),
        advice: "Write each path in full: nothing replaces * by the names of files here",
    },
    Mistake {
        is_in: |word| word.contains('\r'),
        advice: "Remove the sign for the end of a line from the path: the file that sets the variable has line ends of Windows (dos2unix FILE)",
    },
    Mistake {
        is_in: |word| word.trim() != word,
        advice: "Write the path without a blank before or after it",
    },
    Mistake {
        is_in: |word| word.split([',', ';']).count() > 1,
        advice: "Divide paths by a colon",
    },
    Mistake {
        is_in: |word| {
            word.split_whitespace().count() > 1 && word.split_whitespace().all(|part| part.ends_with(".json"))
        },
        advice: "Divide paths by a colon, and not by a blank",
    },
    Mistake {
        is_in: |word| without_rest(word).is_some_and(|path| Path::new(path).is_file()),
        advice: "Remove what follows .json",
    },
    Mistake {
        is_in: |word| word.ends_with(".so") || word.contains(".so."),
        advice: "Name the manifest of the driver, a JSON file, and not its library",
    },
    Mistake {
        is_in: |word| !word.is_empty() && !word.starts_with('/'),
        advice: "Write the path in full: a relative one begins in the folder where the program starts",
    },
];

/// Returns the part of a word up to `.json` if there is text after `.json`.
fn without_rest(word: &str) -> Option<&str> {
    let (path, rest) = word.split_at(word.find(".json")? + ".json".len());
    (!rest.is_empty()).then_some(path)
}

/// Returns the remedy for the first word with a known mistake in a list of paths. Skips a word that names an existing file.
pub(super) fn advice(value: &str) -> Option<&'static str> {
    value.split(':').find_map(of_word)
}

/// Returns the remedy for the mistake in one word, if there is one.
pub(super) fn of_word(word: &str) -> Option<&'static str> {
    let leads_to_manifest = Path::new(word).exists() && !word.contains(".so");
    if leads_to_manifest {
        return None;
    }
    let mistake = MISTAKES.iter().find(|mistake| (mistake.is_in)(word))?;
    Some(mistake.advice)
}

/// Upper bound on the number of words that are joined to find a divided path.
const MOST_WORDS: usize = 16;

/// Returns the existing path that a colon in its name divides into several words of `value`, among them `word`.
pub(super) fn divided(value: &str, word: &str) -> Option<String> {
    let words: Vec<&str> = value.split(':').take(MOST_WORDS).collect();
    let parts = (0..words.len()).flat_map(|first| (first + 1..words.len()).map(move |last| (first, last)));
    let mut paths = parts
        .map(|(first, last)| &words[first..=last])
        .filter(|part| part.contains(&word))
        .map(|part| part.join(":"));
    paths.find(|path| path.starts_with('/') && Path::new(path).exists())
}

/// Returns a list of paths without the mistakes that have one possible correction: quotes, blanks, wrong separators, and `~` and `$` that only
/// a shell replaces. `variable` returns the value of a variable. Returns `None` if nothing changes, or if a changed path does not exist.
pub(super) fn corrected(value: &str, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let is_there = |path: &str| Path::new(path).exists();
    let split = |word: &str| {
        let parts = word.split([',', ';']).map(String::from);
        if is_there(word) {
            vec![word.to_owned()]
        } else {
            parts.collect()
        }
    };
    let mut words: Vec<String> = Vec::new();
    for word in value.split(':').flat_map(split) {
        let right = if is_there(&word) {
            word
        } else {
            expanded(&word, &variable)?
        };
        if !right.is_empty() {
            words.push(right);
        }
    }
    let corrected = words.join(":");
    let is_right = |word: &String| is_there(word) || value.split(':').any(|known| known == word);
    (corrected != value && words.iter().all(is_right)).then_some(corrected)
}

/// Returns a path as a shell would expand it. Returns `None` if the path contains a variable that is not set.
fn expanded(word: &str, variable: impl Fn(&str) -> Option<String>) -> Option<String> {
    let word = word.trim().trim_matches(['"', '\'']).trim();
    let word = match word.strip_prefix('~') {
        Some(rest) if rest.is_empty() || rest.starts_with('/') => format!("{}{rest}", variable("HOME")?),
        _ => word.to_owned(),
    };
    let mut expanded = String::new();
    let mut rest = word.as_str();
    while let Some((before, after)) = rest.split_once('$') {
        let (name, after) = match after.strip_prefix('{') {
            Some(inner) => inner.split_once('}')?,
            None => {
                let is_sign = |sign: char| sign.is_ascii_alphanumeric() || sign == '_';
                after.split_at(after.find(|sign| !is_sign(sign)).unwrap_or(after.len()))
            }
        };
        expanded += before;
        expanded += &variable(name)?;
        rest = after;
    }
    Some(expanded + rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_mistakes_have_an_advice_each() {
        for (value, words) in [
            ("\"/a/x.json\"", Some("quotes")),
            ("/dev:~/x.json", Some("~")),
            ("$HOME/x.json", Some("$")),
            ("/a/*.json", Some("*")),
            (" /a/x.json", Some("blank")),
            ("/a/x.json,/a/y.json", Some("colon")),
            ("/a/x.json /a/y.json", Some("by a blank")),
            ("/a/x.json\r", Some("line ends of Windows")),
            ("/a/libx.so.1", Some("JSON")),
            ("/nowhere/x.json", None),
            ("icd.d/x.json", Some("in full: a relative")),
            ("", None),
            ("/dev", None),
        ] {
            let found = advice(value);
            assert_eq!(found.is_some(), words.is_some(), "{value}");
            assert!(
                words.is_none_or(|words| found.is_some_and(|found| found.contains(words))),
                "{value}"
            );
        }
    }

    #[test]
    fn paths_are_corrected_as_a_shell_would_expand_them() {
        let folder = tempfile::tempdir().expect("a folder");
        let home = folder.path().display().to_string();
        for name in ["a", "b"] {
            std::fs::create_dir(folder.path().join(name)).expect("a folder");
        }
        let variable = |name: &str| (name == "HOME").then(|| home.clone());
        for (value, expected) in [
            ("~/a", Some("H/a")),
            ("$HOME/a:${HOME}/b", Some("H/a:H/b")),
            ("\"H/a\"", Some("H/a")),
            ("'H/a:H/b'", Some("H/a:H/b")),
            ("H/a,H/b", Some("H/a:H/b")),
            ("H/a; H/b\r", Some("H/a:H/b")),
            ("H/nowhere:~/a", Some("H/nowhere:H/a")),
            ("H/a", None),
            ("~/nowhere", None),
            ("$NOWHERE/a", None),
            ("~other/a", None),
            ("", None),
        ] {
            let whole = |text: &str| {
                text.replace('H', "\0")
                    .replace("\0OME", "HOME")
                    .replace("N\0", "NH")
                    .replace('\0', &home)
            };
            let found = corrected(&whole(value), variable);
            assert_eq!(found, expected.map(whole), "{value}");
        }
    }
}
