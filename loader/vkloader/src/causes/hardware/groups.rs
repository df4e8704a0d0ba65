//! Commands that let a user into the group of a device node, for each kind of system.

use super::machine::Machine;
use super::service;
use crate::regular;

/// File with the groups that a system made from an image brings, such as Fedora Silverblue. Users cannot join these groups before
/// `/etc/group` has them.
const OF_IMAGE: &str = "usr/lib/group";
/// List of the groups of a system.
const OF_SYSTEM: &str = "etc/group";

/// Returns the lists of groups of a system, as one text.
pub(super) fn all(machine: &Machine) -> String {
    format!("{}\n{}", machine.text(OF_SYSTEM), machine.text(OF_IMAGE))
}

/// Returns the remedy that adds a user to groups. `is_known` is `true` for a user in the list of users.
pub(super) fn to_add(groups: &[&str], (user, is_known): (&str, bool), machine: &Machine) -> String {
    let service = service::name(&machine.text("proc/self/cgroup"));
    if let Some(service) = service.as_ref().filter(|_| !is_known) {
        return format!(
            "Give the service the group: systemctl edit {service}, with the lines [Service] and SupplementaryGroups={}; then: systemctl restart {service}",
            groups.join(" ")
        );
    }
    let plural = if groups.len() > 1 { "groups" } else { "group" };
    let begin = format!("Add the user to the {plural} {}", groups.join(" and "));
    if machine.has("etc/NIXOS") {
        let words: Vec<String> = groups.iter().map(|group| format!("\"{group}\"")).collect();
        return format!(
            "{begin} in the configuration of the system: users.users.{user}.extraGroups = [ {} ]; then: nixos-rebuild switch, and log in again",
            words.join(" ")
        );
    }
    // The system's list of groups may lack those of its image, which usermod does not see.
    let own = machine.text(OF_SYSTEM);
    let is_listed = |group: &str| own.lines().any(|line| line.split(':').next() == Some(group));
    // A last line without an end would become one line with the new one.
    let is_complete = regular::read(machine.path(OF_SYSTEM)).is_ok_and(|own| own.is_empty() || own.ends_with(b"\n"));
    let (first, last) = if is_complete { ("", "") } else { ("(echo && ", ")") };
    let copies: Vec<String> = groups
        .iter()
        .filter(|group| !is_listed(group))
        .map(|group| format!("{first}getent group {group}{last} | tee -a /{OF_SYSTEM} && "))
        .collect();
    // Alpine has usermod only with the package shadow.
    let is_small = machine.has("etc/alpine-release") && !machine.has("usr/sbin/usermod");
    let join = if is_small {
        let commands: Vec<String> = groups.iter().map(|group| format!("addgroup {user} {group}")).collect();
        commands.join(" && ")
    } else {
        format!("usermod -aG {} {user}", groups.join(","))
    };
    let commands = copies.concat() + &join;
    if !is_of_service(user, machine) {
        return format!("{begin}, and log in again: {commands}");
    }
    let again = service.map_or_else(String::new, |service| format!(" && systemctl restart {service}"));
    format!("{begin}, and start the service of this user again: {commands}{again}")
}

/// Returns `true` for the user of a service, who cannot log in.
pub(super) fn is_of_service(user: &str, machine: &Machine) -> bool {
    let users = machine.text("etc/passwd");
    let mut lines = users.lines().map(|line| line.split(':').collect::<Vec<_>>());
    let shell = lines
        .find(|fields| fields[0] == user)
        .and_then(|fields| fields.last().copied());
    shell.is_some_and(|shell| shell.ends_with("/nologin") || shell.ends_with("/false"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    /// Returns the remedy for the groups on a system with the files in `files`.
    fn remedy(groups: &[&str], is_known: bool, files: &[(&str, &str)]) -> String {
        let root = tempfile::tempdir().expect("a folder");
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap_or(Path::new("/"))).expect("folders");
            fs::write(path, text).expect("a file");
        }
        to_add(groups, ("me", is_known), &Machine::seen_from(root.path(), None))
    }

    #[test]
    fn each_kind_of_system_has_its_own_command() {
        let groups = ("etc/group", "render:x:105:\nvideo:x:44:\n");
        let both = ["render", "video"];
        let usual = "Add the user to the groups render and video, and log in again: usermod -aG render,video me";
        assert_eq!(remedy(&both, true, &[groups]), usual);
        let alpine = remedy(&both, true, &[groups, ("etc/alpine-release", "3.22")]);
        assert!(alpine.ends_with("addgroup me render && addgroup me video"), "{alpine}");
        let image = [("etc/group", "root:x:0:\n"), ("usr/lib/group", "render:x:105:\n")];
        let image = remedy(&["render"], true, &image);
        assert!(
            image.ends_with("getent group render | tee -a /etc/group && usermod -aG render me"),
            "{image}"
        );
        let cut = remedy(&["render"], true, &[("etc/group", "root:x:0:")]);
        assert!(cut.contains("(echo && getent group render) | tee"), "{cut}");
        let nixos = remedy(&["render"], true, &[groups, ("etc/NIXOS", "")]);
        assert!(nixos.contains("users.users.me.extraGroups = [ \"render\" ]"), "{nixos}");
        let service = ("proc/self/cgroup", "0::/system.slice/player.service\n");
        let service_of = |is_known| remedy(&["render"], is_known, &[groups, service]);
        assert!(service_of(false).contains("SupplementaryGroups=render"));
        assert!(service_of(true).ends_with("and log in again: usermod -aG render me"));
        let user = ("etc/passwd", "me:x:998:998::/usr/share/me:/usr/sbin/nologin\n");
        let of_user = remedy(&["render"], true, &[groups, service, user]);
        assert!(
            of_user.ends_with("usermod -aG render me && systemctl restart player.service"),
            "{of_user}"
        );
        let unknown = remedy(&["render"], true, &[groups, user]);
        assert!(
            unknown.ends_with("service of this user again: usermod -aG render me"),
            "{unknown}"
        );
    }
}
