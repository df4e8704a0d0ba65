//! Folders and files that a service of systemd hides from its program.

use crate::mounts::Mounts;
use std::path::Path;

/// Folder with the closed files and folders that systemd mounts on those that it hides.
const CLOSED: &str = "systemd/inaccessible/";

/// Returns the finding and the remedy for a folder or file that systemd hides.
pub(super) fn explain(folder: &Path) -> Option<(String, String)> {
    if !is_masked(&Mounts::of_this_process(), folder) {
        return None;
    }
    let folder = folder.to_str()?;
    let (setting, other) = if ["/home", "/root", "/run/user"].contains(&folder) {
        ("ProtectHome=yes", "ProtectHome=read-only".into())
    } else {
        ("InaccessiblePaths=", format!("InaccessiblePaths= without {folder}"))
    };
    Some((
        format!("systemd hides {folder} from this service ({setting} in its unit)"),
        format!(
            "Put the file in another folder, such as /opt; or let the service read {folder}: systemctl edit NAME, with {other} below [Service]"
        ),
    ))
}

/// Returns `true` if the last mount on a folder or file is one of [`CLOSED`].
fn is_masked(mounts: &Mounts, folder: &Path) -> bool {
    let root = mounts.at(folder).map(|mount| mount.root.display().to_string());
    root.is_some_and(|root| root.contains(CLOSED))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_mount_on_a_folder_counts() {
        let plain = "20 1 0:20 / /home rw - ext4 /dev/sda1 rw\n";
        let masked = "30 20 0:25 /systemd/inaccessible/dir /home ro,nosuid - tmpfs tmpfs rw\n";
        let is_masked = |mounts: &str, folder| is_masked(&Mounts::parse(mounts.as_bytes()), Path::new(folder));
        assert!(is_masked(&format!("{plain}{masked}"), "/home"));
        assert!(!is_masked(&format!("{masked}{plain}"), "/home"));
        assert!(!is_masked(masked, "/root"));
        assert!(!is_masked("", "/home"));
    }
}
