//! Writes the version of the Vulkan header into documents.

use crate::words::version;

/// Places where a document names the version of the current Vulkan header. Each row contains the document, `true` if the text is at the
/// start of a line, the text before the number, and the text after the number.
const NAMED: [(&str, bool, &str, &str); 3] = [
    ("README.md", true, "Header ", "."),
    ("docs/packaging.md", true, "| `libvulkan.so.", "`"),
    ("docs/using.md", false, "Vulkan Loader Version ", ""),
];

/// Returns a document's text with the pinned version of the Vulkan header in each place that names the current version.
///
/// # Errors
/// Returns a message if the version is in another place, or is missing in a place of the list.
pub fn with_header(path: &str, text: &str, header: &str) -> Result<String, String> {
    let places: Vec<_> = NAMED.iter().filter(|row| row.0 == path).collect();
    let mut counts = vec![0; places.len()];
    let mut out = String::with_capacity(text.len());
    for (index, line) in text.split_inclusive('\n').enumerate() {
        let found = places
            .iter()
            .enumerate()
            .find_map(|(number, (_, at_begin, before, after))| {
                let place = line.find(before).filter(|place| !at_begin || *place == 0)? + before.len();
                let (_, rest) = version(&line[place..])?;
                let ends = if after.is_empty() {
                    rest.trim_end().is_empty()
                } else {
                    rest.starts_with(after)
                };
                ends.then_some((number, place, rest))
            });
        let rest = match found {
            Some((number, place, rest)) => {
                counts[number] += 1;
                out.extend([&line[..place], header, rest]);
                line[..place].to_owned() + rest
            }
            None => {
                out.push_str(line);
                line.to_owned()
            }
        };
        if names(&rest, header) {
            let number = index + 1;
            return Err(format!(
                "{path}:{number} names the header: list it in NAMED of tests/xtask/src/headers.rs, so that a bump changes it"
            ));
        }
    }
    match counts.iter().position(|count| *count == 0) {
        Some(lacking) => Err(format!("{path} does not name the header after {:?}", places[lacking].2)),
        None => Ok(out),
    }
}

/// Returns `true` if a line contains the version, and not only as part of a longer number.
fn names(line: &str, header: &str) -> bool {
    line.match_indices(header).any(|(place, _)| {
        let after = line[place + header.len()..].trim_start_matches('.');
        !line[..place].ends_with(|it: char| it.is_ascii_digit() || it == '.')
            && !after.starts_with(|it: char| it.is_ascii_digit())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_header_of_the_day_follows_the_pin() {
        for (page, text) in [
            ("README.md", "Header 1.4.1. More\n"),
            ("docs/packaging.md", "| `libvulkan.so.1.4.1` more\n"),
        ] {
            assert_eq!(
                with_header(page, text, "1.4.2").expect("the page names the header"),
                text.replace("1.4.1", "1.4.2")
            );
            assert!(with_header(page, "1.4.1\n", "1.4.2").is_err());
        }
    }

    #[test]
    fn a_header_anywhere_else_is_an_error() {
        assert!(with_header("docs/limits.md", "Measured at 1.4.2.\n", "1.4.2").is_err());
        assert!(with_header("docs/limits.md", "Measured at 1.4.20, 11.4.2 and 1.4.2.3.\n", "1.4.2").is_ok());
    }
}
