//! The form in which a catalogue has the files that drivers depend on.

use catalogue::{SEARCHED, WITH_LIST, WITH_ORIGIN};
use serde::{Deserialize, Serialize};

/// A file that drivers depend on, or a folder in which the dynamic linker searches for such a file. The catalogue stores each of them as a
/// list without member names, because every process must parse all of them.
#[derive(Clone, Debug, Deserialize, PartialEq, Eq, Serialize)]
#[serde(from = "Vec<String>", into = "Vec<String>")]
pub(super) struct SharedFile {
    pub(super) path: String,
    /// Written form of the identity; empty if the path did not exist.
    pub(super) identity: String,
    /// Names by which libraries request the file, separated by blanks.
    pub(super) names: String,
    /// Build ID. On some file systems, a changed file may keep its times, and only the build ID shows the change.
    pub(super) build_id: Option<String>,
    /// `true` if the linker found the file through `LD_LIBRARY_PATH`.
    pub(super) is_searched: bool,
    /// `true` if the file's own search path contains `$ORIGIN`.
    pub(super) has_origin: bool,
    /// `true` if the file has an access control list, so that the bits of its mode do not show who may read it.
    pub(super) has_list: bool,
}

impl From<Vec<String>> for SharedFile {
    fn from(members: Vec<String>) -> Self {
        let mut members = members.into_iter();
        let mut next = || members.next().unwrap_or_default();
        let (path, identity, names) = (next(), next(), next());
        let build_id = members.next().filter(|id| !id.is_empty());
        let way = members.next().unwrap_or_default();
        let is = |word| way.split(' ').any(|one| one == word);
        Self {
            path,
            identity,
            names,
            build_id,
            is_searched: is(SEARCHED),
            has_origin: is(WITH_ORIGIN),
            has_list: is(WITH_LIST),
        }
    }
}

impl From<SharedFile> for Vec<String> {
    fn from(file: SharedFile) -> Self {
        let mut members = vec![file.path, file.identity, file.names];
        members.extend(file.build_id);
        let word = |is: bool, word| is.then_some(word);
        let ways = [
            word(file.is_searched, SEARCHED),
            word(file.has_origin, WITH_ORIGIN),
            word(file.has_list, WITH_LIST),
        ];
        let words: Vec<&str> = ways.into_iter().flatten().collect();
        if !words.is_empty() {
            members.resize(4, String::new());
            members.push(words.join(" "));
        }
        members
    }
}
