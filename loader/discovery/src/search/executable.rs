//! The running executable, which override layers and settings files can name (LAY-171, APP-246).

use core::cell::OnceCell;

use crate::journal::Journal;
use crate::text::Text;
use os::running_executable;
use promises::limits::MAX_EXECUTABLE_PATH;

/// The path of the running executable, for comparisons with the keys of files. The path is queried at the first comparison.
#[derive(Debug, Default)]
pub struct Executable(OnceCell<Option<Text>>);

impl Executable {
    /// Returns the running executable.
    pub fn running() -> Self {
        Self::default()
    }

    /// If the path of the executable was compared, notes in `journal` that the scan depends on this path. The scan cache cannot compare
    /// this path later, so the result of the scan is not kept.
    pub fn note(&self, journal: &Journal<'_>) {
        if let (Some(_), Some(paths)) = (self.0.get(), journal.paths()) {
            paths.mark_uncacheable();
        }
    }

    /// Returns the absolute path of the executable, with symbolic links resolved. Returns `None` if the path is unreadable or too long. In
    /// this case, no path in a settings file or override layer matches the executable.
    pub fn path(&self) -> Option<&Text> {
        self.0.get_or_init(executable_path).as_ref()
    }
}

fn executable_path() -> Option<Text> {
    // A path that is too long fills the whole buffer.
    let mut room = [0; MAX_EXECUTABLE_PATH + 1];
    short_enough(running_executable(&mut room)?)
}

fn short_enough(path: &[u8]) -> Option<Text> {
    (path.len() <= MAX_EXECUTABLE_PATH).then(|| path.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    impl From<Option<Text>> for Executable {
        fn from(path: Option<Text>) -> Self {
            Self(path.into())
        }
    }

    #[test]
    fn lay_171_path_of_this_test() {
        let found = executable_path().unwrap();
        assert_eq!(
            found.as_path(),
            std::env::current_exe().unwrap().canonicalize().unwrap()
        );
    }

    #[test]
    fn bi_54_long_paths_are_unknown() {
        assert!(short_enough(&[b'x'; 1023]).is_some());
        assert!(short_enough(&[b'x'; 1024]).is_none());
    }
}
