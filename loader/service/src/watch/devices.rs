//! Lists the folder of device nodes, and reads facts about each device from sysfs (LSV-25, LSV-26). Does not open nodes.

use crate::drivers::{Identity, Seen, is_node};
use std::io::Read;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

/// Returns the nodes in the folder `dri`, each with the facts about its device below `sys`.
pub fn scan(dri: &Path, sys: &Path) -> Vec<Seen> {
    let Ok(entries) = std::fs::read_dir(dri) else {
        return Vec::new();
    };
    let seen = |entry: std::fs::DirEntry| {
        let node = entry.file_name().into_string().ok().filter(|name| is_node(name))?;
        let state = std::fs::symlink_metadata(entry.path()).ok()?;
        if state.is_dir() || state.is_symlink() {
            return None;
        }
        Some(Seen {
            identity: identity(&sys.join("class/drm").join(&node).join("device")),
            node,
            age: age(state.ctime(), state.ctime_nsec()),
        })
    };
    entries.filter_map(|entry| seen(entry.ok()?)).collect()
}

/// Returns the time since a file last changed. If the file's time is in the future, returns zero.
fn age(seconds: i64, nanoseconds: i64) -> Duration {
    let part = |number: i64| u64::try_from(number).unwrap_or(0);
    let changed = Duration::from_secs(part(seconds)) + Duration::from_nanos(part(nanoseconds));
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    now.saturating_sub(changed)
}

fn identity(device: &Path) -> Identity {
    let driver = std::fs::read_link(device.join("driver")).ok();
    let driver = driver.and_then(|link| Some(link.file_name()?.to_str()?.to_owned()));
    Identity {
        driver: driver.unwrap_or_default(),
        vendor: number(&device.join("vendor")),
        device: number(&device.join("device")),
    }
}

/// Reads a number in the form of files in sysfs, for example `0x1002`.
fn number(file: &Path) -> Option<u16> {
    let mut text = String::new();
    std::fs::File::open(file)
        .ok()?
        .take(32)
        .read_to_string(&mut text)
        .ok()?;
    u16::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn lsv_26_a_device_is_what_the_system_says_of_it() {
        let place = tempfile::tempdir().unwrap();
        let (dri, sys) = (place.path().join("dri"), place.path().join("sys"));
        std::fs::create_dir(&dri).unwrap();
        for node in ["renderD128", "renderD129", "card0", "renderDx"] {
            std::fs::write(dri.join(node), "").unwrap();
        }
        symlink("renderD128", dri.join("renderD130")).unwrap();
        std::fs::create_dir(dri.join("renderD131")).unwrap();
        let device = sys.join("class/drm/renderD128/device");
        std::fs::create_dir_all(&device).unwrap();
        std::fs::write(device.join("vendor"), "0x1002\n").unwrap();
        std::fs::write(device.join("device"), "0x73bf\n").unwrap();
        symlink("../../../bus/pci/drivers/amdgpu", device.join("driver")).unwrap();
        let mut seen = scan(&dri, &sys);
        seen.sort_by(|one, other| one.node.cmp(&other.node));
        let nodes: Vec<_> = seen.iter().map(|seen| seen.node.as_str()).collect();
        assert_eq!(nodes, ["renderD128", "renderD129"]);
        let identity = Identity {
            driver: "amdgpu".into(),
            vendor: Some(0x1002),
            device: Some(0x73bf),
        };
        assert_eq!(
            (&seen[0].identity, &seen[1].identity),
            (&identity, &Identity::default())
        );
        assert!(scan(&place.path().join("none"), &sys).is_empty());
    }
}
