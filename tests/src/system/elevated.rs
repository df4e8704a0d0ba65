//! Starts a child with elevated privileges (APP-211), in the same way as a real system.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

/// User ID of `nobody`.
const NOBODY: u32 = 65534;

/// Returns a command that runs a set-user-ID copy of `program` as an unprivileged user.
pub(crate) fn command(program: &Path, root: &Path) -> Command {
    let copy = root.join("elevated");
    if !copy.exists() {
        steady::copy_program(program, &copy, 0o4755);
    }
    let owner = fs::metadata(&copy).expect("the copy is there").uid();
    assert_eq!(owner, 0, "elevated cases must be run by the superuser");
    let mut command = Command::new(copy);
    command.uid(NOBODY).gid(NOBODY);
    command
}
