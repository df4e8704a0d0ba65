//! Finds device nodes that this user may not open, and the group or setting that permits it.

use super::groups;
use super::kernel;
use super::machine::{Machine, is_open_to_us};
use super::places::KIND;
use super::rules;
use crate::causes::elf;
use crate::report::{Dropped, Fact, Kind, codes};
use crate::shell::word;
use rustix::fs::{Access, FileType, StatVfsMountFlags, access, statvfs};
use rustix::io::Errno;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Group ID that the kernel shows for groups that the user namespace does not map.
const UNMAPPED: u32 = 65534;

/// Returns the device nodes that this user may not open.
pub(super) fn closed_nodes(machine: &Machine) -> Vec<PathBuf> {
    let mut closed = machine.nodes();
    closed.retain(|node| !is_open_to_us(node) && !is_by_policy(node) || is_without_devices(node, machine));
    closed
}

/// Returns `true` if the system reports that this user may not open a node, although the permissions of the node allow it. SELinux refuses nodes in this
/// way.
fn is_by_policy(node: &Path) -> bool {
    let wanted = Access::READ_OK | Access::WRITE_OK;
    access(node, wanted) == Err(Errno::ACCESS) && elf::is_permitted(node, wanted)
}

/// Returns `true` for a device node in a file system that is mounted with `nodev`. No user can open such a node, whatever its permissions are.
fn is_without_devices(node: &Path, machine: &Machine) -> bool {
    let node = &machine.real(node);
    let is_device = fs::metadata(node).is_ok_and(|status| FileType::from_raw_mode(status.mode()).is_char_device());
    is_device && statvfs(node).is_ok_and(|system| system.f_flag.contains(StatVfsMountFlags::NODEV))
}

/// Returns the finding about a device node in a file system that is mounted with `nodev`.
fn without_devices(node: &Path, machine: &Machine) -> Dropped {
    let mount = machine.mount_point(node);
    Dropped {
        reason: "The device node of the graphics card is in a file system that forbids devices (nodev).".into(),
        findings: [format!("{mount} is mounted with nodev")].into(),
        advice: format!(
            "Let the file system have devices: mount -o remount,dev {}; in a sandbox of bubblewrap, hand the nodes over with --dev-bind /dev/dri \
             /dev/dri in place of --bind; in a container, with --device /dev/dri in place of a volume",
            word(&mount)
        ),
        ..codes::HARDWARE_NO_PERMISSION.about(node.display().to_string())
    }
}

/// Returns the finding about a folder of device nodes that this user may not search.
pub(super) fn in_closed_folder(folder: &Path, machine: &Machine) -> Dropped {
    let mode = fs::metadata(folder).map_or(0, |status| status.mode() & 0o7777);
    let folder = folder.display().to_string();
    Dropped {
        reason: "This user may not search the folder with the device node of the graphics card.".into(),
        findings: [format!(
            "the user {} may not search {folder} (mode {mode:04o})",
            user(machine)
        )]
        .into(),
        advice: format!("Let all users search the folder: chmod a+rx {}", word(&folder)),
        ..codes::HARDWARE_NO_PERMISSION.about(folder)
    }
}

/// Returns a finding about device nodes that this user may not open.
pub(super) fn permissions(machine: &Machine, closed: &[PathBuf]) -> Option<Dropped> {
    let first = closed.first()?;
    if let Some(found) = rules::refusing(first, machine) {
        return Some(found);
    }
    if is_without_devices(first, machine) {
        return Some(without_devices(first, machine));
    }
    let row = codes::HARDWARE_NO_PERMISSION;
    let user = user(machine);
    Some(Dropped {
        findings: closed
            .iter()
            .map(|node| {
                let name = node.display().to_string();
                let words = format!("the user {user} may not open {name}{}", group_of(node, machine));
                Fact::new(Kind::ClosedNode(name), words)
            })
            .collect(),
        advice: match (
            for_pod(machine, closed).or_else(|| to_join(machine, closed, &user)),
            fs::metadata(first),
        ) {
            (Some(advice), _) => advice,
            (None, Ok(status)) => to_open(first, (status.gid(), status.mode()), machine, &user),
            (None, Err(_)) => row.remedy.into(),
        },
        ..row.about(first.display().to_string())
    })
}

/// Returns words about the group of a node, if this group has no name here.
fn group_of(node: &Path, machine: &Machine) -> String {
    let status = fs::metadata(node).ok().filter(|status| status.mode() & 0o060 == 0o060);
    let number = status
        .map(|status| status.gid())
        .filter(|number| ![0, UNMAPPED].contains(number));
    let unnamed = number.filter(|number| named(&groups::all(machine), &number.to_string()).is_none());
    unnamed.map_or(String::new(), |number| {
        format!(", whose group {number} has no name here")
    })
}

/// Folder that exists in the pods of Kubernetes.
const POD: &str = "run/secrets/kubernetes.io";

/// Returns the remedy for a pod of Kubernetes. The pod's specification determines the groups of its processes. Returns `None` outside of
/// pods, and if a node is not open to its group.
pub(super) fn for_pod(machine: &Machine, closed: &[PathBuf]) -> Option<String> {
    if !machine.has(POD) {
        return None;
    }
    let group = |node: &PathBuf| {
        let status = fs::metadata(node).ok()?;
        let is_for_group = status.mode() & 0o060 == 0o060 && ![0, UNMAPPED].contains(&status.gid());
        is_for_group.then(|| status.gid())
    };
    let mut groups = closed.iter().map(group).collect::<Option<Vec<u32>>>()?;
    groups.sort_unstable();
    groups.dedup();
    let groups: Vec<String> = groups.iter().map(u32::to_string).collect();
    Some(format!(
        "Give the processes of the pod the group of the node, in the pod's specification: securityContext: {{supplementalGroups: [{}]}}",
        groups.join(", ")
    ))
}

/// Returns the remedy for nodes of several groups, if the user is in none of these groups.
pub(super) fn to_join(machine: &Machine, closed: &[PathBuf], user: &str) -> Option<String> {
    let groups = groups::all(machine);
    let name = |node: &PathBuf| {
        let status = fs::metadata(node).ok()?;
        let is_for_group = status.mode() & 0o060 == 0o060 && status.gid() != 0;
        let name = named(&groups, &status.gid().to_string()).filter(|name| !is_foreign(name, machine));
        name.filter(|name| is_for_group && !is_member(&groups, name, user))
    };
    let mut names = closed.iter().map(name).collect::<Option<Vec<String>>>()?;
    names.sort_unstable();
    names.dedup();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    (names.len() > 1).then(|| groups::to_add(&names, (user, is_named(user)), machine))
}

/// Returns `true` if `group`, the text of the file of groups, lists the user as a member of the group called `name`.
fn is_member(group: &str, name: &str, user: &str) -> bool {
    group.lines().any(|line| {
        let fields: Vec<&str> = line.split(':').collect();
        fields.len() > 3 && fields[0] == name && fields[3].split(',').any(|member| member == user)
    })
}

/// Returns the remedy for a node that this user may not open. The remedy depends on the node's group ID and mode.
pub(super) fn to_open(node: &Path, (group, mode): (u32, u32), machine: &Machine, user: &str) -> String {
    let lets_group = mode & 0o060 == 0o060;
    let name = named(&groups::all(machine), &group.to_string());
    let is_foreign = name.as_deref().is_some_and(|name| is_foreign(name, machine));
    let of_host = if is_foreign {
        "The node's group is one of the host, whose number another group has in the container"
    } else {
        "The node's group has no name in the container"
    };
    let is_nspawn = machine.text(KIND) == "systemd-nspawn";
    match name.filter(|_| lets_group && group != 0 && group != UNMAPPED && !is_foreign) {
        Some(name) if is_member(&machine.text("etc/group"), &name, user) && groups::is_of_service(user, machine) => format!(
            "Start the service of the user {user} again: the user is in the group {name}, but the service was started before that"
        ),
        Some(name) if is_member(&machine.text("etc/group"), &name, user) => format!(
            "Log in again: the user {user} is in the group {name}, but this session began before that; for one command: newgrp {name}"
        ),
        Some(_) if machine.has(".dockerenv") => to_hand_over("docker", group),
        Some(_) if machine.has("run/.containerenv") => to_hand_over("podman", group),
        Some(name) => groups::to_add(&[&name], (user, is_named(user)), machine),
        None if lets_group && group == UNMAPPED && is_nspawn => IN_NSPAWN.into(),
        None if lets_group && group != 0 && machine.has(KIND) && !is_nspawn => {
            let usable = (group != UNMAPPED && !is_foreign).then(|| to_renumber(group, &machine.text("etc/group"), user));
            let rest = usable.map_or(String::new(), |command| format!("; or in the container: {command}"));
            format!("{}{rest}", in_system_container(node, machine, user))
        }
        None if lets_group && group == UNMAPPED && machine.has(".dockerenv") => in_rootless_docker(node),
        None if lets_group && group == UNMAPPED && machine.has("run/.containerenv") => {
            "The container does not know the node's group: podman run --group-add keep-groups keeps the groups of the user.".into()
        }
        None if lets_group && group == UNMAPPED => IN_NAMESPACE.into(),
        None if lets_group && group != 0 && machine.has(".dockerenv") => {
            format!("{of_host}: docker run --group-add {group} IMAGE")
        }
        None if lets_group && group != 0 && machine.has("run/.containerenv") => {
            format!("{of_host}: podman run --group-add {group} IMAGE")
        }
        None if lets_group && ![0, UNMAPPED].contains(&group) => format!(
            "The node's group {group} has no name here. Give the group its number, and log in again: {}",
            to_renumber(group, &machine.text("etc/group"), user)
        ),
        None if node.components().any(|part| part.as_os_str() == "dri") && !lets_group | (group == 0) => {
            let node = word(&node.display().to_string());
            let groups = groups::all(machine);
            let (make, group) = match of_graphics(&groups) {
                Some((name, _)) => (String::new(), name),
                None => (format!("{} && ", to_make(machine)), OF_GRAPHICS[0]),
            };
            format!(
                "Let udev give the node its group again: udevadm trigger --subsystem-match=drm; if there is no udev here: {make}chgrp {group} \
                 {node} && chmod 0660 {node}. The user must be in that group."
            )
        }
        None if node.to_string_lossy().contains("/nvidia") => of_nvidia_node(machine),
        None => codes::HARDWARE_NO_PERMISSION.remedy.into(),
    }
}

/// Returns the remedy that gives the processes of a container the group of a node. Its processes have the groups with which it was started.
fn to_hand_over(program: &str, group: u32) -> String {
    format!("Start the container with the node's group: {program} run --group-add {group} IMAGE")
}

/// Remedy for a node whose group a sandbox with users of its own does not know.
const IN_NAMESPACE: &str = "The sandbox does not know the node's group, because it has users of its own. Outside of the sandbox, add the user to the group that \
    ls -l /dev/dri shows there, and log in again: usermod -aG render USER";

/// Returns the remedy that gives a node a group of the container of LXC in which this process runs.
fn in_system_container(node: &Path, machine: &Machine, user: &str) -> String {
    let groups = machine.text("etc/group");
    let (name, make, number) = match of_graphics(&groups) {
        Some((name, number)) => (name, String::new(), number),
        None => {
            let make = format!(
                " (make it first, in the container: {}, and take its number for GID)",
                to_make(machine)
            );
            (OF_GRAPHICS[0], make, "GID".into())
        }
    };
    let join = if is_named(user) && !is_member(&groups, name, user) {
        format!("; the user must be in that group, in the container: usermod -aG {name} {user}")
    } else {
        String::new()
    };
    format!(
        "The container does not know the node's group: give the node the group {name} of the container{make}, with incus config device set NAME gpu gid \
         {number} or, in Proxmox, dev0: {},gid={number}{join}",
        node.display()
    )
}

/// Returns the first group in [`OF_GRAPHICS`] that the list of groups has, with its number.
fn of_graphics(groups: &str) -> Option<(&'static str, String)> {
    let mut names = OF_GRAPHICS.into_iter();
    names.find_map(|name| Some((name, id_of(groups, name)?)))
}

/// Returns the command that makes the group of users who may use graphics cards.
fn to_make(machine: &Machine) -> String {
    let command = if machine.has("etc/alpine-release") && !machine.has("usr/sbin/groupadd") {
        "addgroup -S"
    } else {
        "groupadd -r"
    };
    format!("{command} {}", OF_GRAPHICS[0])
}

/// Remedy for a node whose group a container of systemd-nspawn does not know.
const IN_NSPAWN: &str = "The container does not know the node's group, because it has users of its own: start it with systemd-nspawn --private-users=no; or let all \
    users open the node, on the host, with a rule of udev (MODE=\"0666\").";

/// Returns the remedy for a node whose group a container of Docker does not know, because Docker runs without privileges or in a user namespace.
fn in_rootless_docker(node: &Path) -> String {
    let node = word(&node.display().to_string());
    format!(
        "The container does not know the node's group, because Docker runs without privileges. Let the user who runs Docker open the node, on the host as root: \
         setfacl -m u:USER:rw {node}; for longer, with a rule of udev (MODE=\"0666\"). If Docker has the setting userns-remap: docker run --userns=host"
    )
}

/// Returns the command that gives the group of users who may use graphics cards the number `number`, and adds the user to the group. `group` is
/// the text of the file of groups.
fn to_renumber(number: u32, group: &str, user: &str) -> String {
    let name = OF_GRAPHICS[0];
    let renumber = match id_of(group, name) {
        Some(_) => format!("groupmod -g {number} {name}"),
        None => format!("groupadd -g {number} {name}"),
    };
    if is_member(group, name, user) {
        renumber
    } else {
        format!("{renumber} && usermod -aG {name} {user}")
    }
}

/// Groups of users who may use graphics cards.
const OF_GRAPHICS: [&str; 2] = ["render", "video"];

/// Returns `true` for the name of a group that has nothing to do with graphics. In a container, the number of a node's group is that of the
/// host, and a group of the container may have the same number by chance.
fn is_foreign(name: &str, machine: &Machine) -> bool {
    let is_inside = ["run/systemd/container", ".dockerenv", "run/.containerenv"];
    let is_inside = is_inside.iter().any(|file| machine.has(file));
    is_inside && !OF_GRAPHICS.contains(&name) && id_of(&machine.text("etc/group"), OF_GRAPHICS[0]).is_some()
}

/// Returns the remedy for a node of NVIDIA's driver. Options of the kernel module determine the permissions of the nodes.
fn of_nvidia_node(machine: &Machine) -> String {
    const OPTION: &str = "NVreg_DeviceFileMode";
    const NOW: &str = "chmod 0666 /dev/nvidia*";
    let file = kernel::file_with(machine, OPTION);
    file.map_or_else(
        || format!("Give the user permission to read and write the nodes: {NOW}"),
        |file| format!("Set {OPTION}=0666 in /{file}, and start the machine again; until then: {NOW}"),
    )
}

/// Returns the name of this process's user, or the user ID if there is no name.
fn user(machine: &Machine) -> String {
    let number = rustix::process::geteuid().as_raw().to_string();
    named(&machine.text("etc/passwd"), &number).unwrap_or(number)
}

/// Returns `true` for the name of a user, and `false` for the number of a user without a name, such as the user of a service.
fn is_named(user: &str) -> bool {
    user.parse::<u32>().is_err()
}

/// Returns the ID of a group in the file `group`.
fn id_of(file: &str, name: &str) -> Option<String> {
    let mut lines = file.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let fields = lines.find(|fields| fields.len() > 2 && fields[0] == name)?;
    Some(fields[2].into())
}

/// Returns the name for an ID in the file `passwd` or `group`.
fn named(file: &str, number: &str) -> Option<String> {
    file.lines().find_map(|line| {
        let mut fields = line.split(':');
        let (name, _, id) = (fields.next()?, fields.next()?, fields.next()?);
        (id == number).then(|| name.into())
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the remedy for a node on a system with this list of groups. `kind` is the kind of the container, if the system is one.
    fn remedy(groups: &str, kind: Option<&str>, owner: (u32, u32)) -> String {
        let root = tempfile::tempdir().expect("a folder");
        let write = |path: &str, text: &str| {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().expect("a folder")).expect("folders");
            fs::write(path, text).expect("a file");
        };
        write("etc/group", groups);
        if let Some(kind) = kind {
            write(KIND, kind);
        }
        to_open(Path::new("/dev/dri/renderD128"), owner, &Machine::at(root.path()), "me")
    }

    #[test]
    fn the_remedy_names_a_group_that_the_system_has() {
        let (render, video) = ("render:x:105:me\n", "video:x:44:\n");
        for (groups, words) in [
            (render, "here: chgrp render /dev"),
            (video, "here: chgrp video /dev"),
            ("", "here: groupadd -r render && chgrp render /dev"),
        ] {
            let advice = remedy(groups, None, (0, 0o600));
            assert!(advice.contains(words), "{advice}");
        }
        for (groups, words, joins) in [
            (render, "dev0: /dev/dri/renderD128,gid=105", false),
            (video, "gpu gid 44 ", true),
            ("", "groupadd -r render", true),
        ] {
            let advice = remedy(groups, Some("lxc"), (UNMAPPED, 0o660));
            assert!(advice.contains(words), "{advice}");
            assert_eq!(advice.contains("usermod -aG"), joins, "{advice}");
        }
    }
}
