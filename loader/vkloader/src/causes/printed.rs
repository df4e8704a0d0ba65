//! Finds causes in the lines that drivers print.

use super::packages;
use crate::report::Dropped;

/// Text before the name of a library that NVIDIA's driver could not open.
const NOT_OPENED: &str = "unable to open '";

/// Adds the library that a driver could not open, if the driver printed the name of the library.
pub(super) fn explain(dropped: &mut Dropped) {
    if !dropped.subject.starts_with("driver") {
        return;
    }
    let library = dropped.findings.iter().find_map(|line| named(line)).map(String::from);
    if let Some(library) = library {
        dropped.findings.insert(0, format!("it did not find {library}"));
        dropped.advice = packages::install(&[&library]);
    }
}

fn named(line: &str) -> Option<&str> {
    let (_, rest) = line.split_once(NOT_OPENED)?;
    rest.split('\'').next().filter(|name| name.contains(".so"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_is_found_in_the_words_of_a_driver() {
        let line = "it printed: The NVIDIA driver was unable to open 'libnvidia-glvkspirv.so.430.14'.  This library is required at run time.";
        assert_eq!(named(line), Some("libnvidia-glvkspirv.so.430.14"));
        assert_eq!(named("unable to open '/dev/dri/renderD128'"), None);
        assert_eq!(named("unable to open '"), None);
    }
}
