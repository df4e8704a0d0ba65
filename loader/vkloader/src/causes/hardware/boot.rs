//! Finds the files that set a word of the kernel's command line or forbid a kernel module, and the commands that apply a change of such a
//! file.

use super::machine::Machine;
use crate::report::Facts;
use crate::shell;

/// Folders of systemd-boot, and of GRUB in Fedora, that contain one file for each installed kernel.
const ENTRIES: [&str; 3] = ["boot/loader/entries", "efi/loader/entries", "boot/efi/loader/entries"];
/// Folder with additions to the settings of GRUB.
const GRUB_FOLDER: &str = "etc/default/grub.d";
/// Files with the whole command line, each with the command that applies a change; without a command, the boot loader reads the file.
const FILES: [(&str, Apply); 7] = [
    ("etc/default/grub", Apply::Grub),
    ("etc/kernel/cmdline", Apply::Image),
    ("boot/firmware/cmdline.txt", Apply::Nothing),
    ("boot/cmdline.txt", Apply::Nothing),
    ("boot/extlinux/extlinux.conf", Apply::Nothing),
    ("boot/refind_linux.conf", Apply::Nothing),
    ("boot/limine.conf", Apply::Nothing),
];

/// Kind of the command that applies a change of a file; `Nothing` if no command is needed.
#[derive(Clone, Copy)]
enum Apply {
    Nothing,
    /// Regenerates the configuration of GRUB.
    Grub,
    /// Regenerates the kernel images or boot entries.
    Image,
    /// Regenerates the initial RAM file system (initramfs).
    First,
}

impl Apply {
    /// Programs, each with its command, in order of preference. A row without a program is for systems that have none of the other
    /// programs.
    fn commands(self) -> &'static [(&'static str, &'static str)] {
        match self {
            Self::Nothing => &[],
            Self::Grub => &[
                ("usr/sbin/update-grub", "update-grub"),
                ("usr/sbin/grub2-mkconfig", "grub2-mkconfig -o /boot/grub2/grub.cfg"),
                ("usr/bin/grub2-mkconfig", "grub2-mkconfig -o /boot/grub2/grub.cfg"),
                ("", "grub-mkconfig -o /boot/grub/grub.cfg"),
            ],
            Self::Image => &[
                ("usr/sbin/proxmox-boot-tool", "proxmox-boot-tool refresh"),
                ("usr/bin/mkinitcpio", "mkinitcpio -P"),
                ("usr/sbin/update-initramfs", "update-initramfs -u -k all"),
                ("", "kernel-install add-all"),
            ],
            Self::First => &[
                ("usr/sbin/update-initramfs", "update-initramfs -u"),
                ("usr/bin/mkinitcpio", "mkinitcpio -P"),
                ("usr/bin/dracut", "dracut --force"),
            ],
        }
    }

    /// Returns the part of a remedy that applies a change.
    fn words(self, machine: &Machine) -> String {
        let is_there = |program: &&(&str, &str)| program.0.is_empty() || machine.has(program.0);
        let command = self.commands().iter().find(is_there);
        command.map_or(String::new(), |(_, command)| format!(", run {command}"))
    }
}

/// Returns the findings and the remedy for words of the kernel's command line that must be removed.
pub(super) fn remove(words: &[&str], machine: &Machine) -> (Facts, String) {
    let listed = words.join(" and ");
    let mut findings = Facts::from([format!("the kernel's command line has {listed}")]);
    let files = files_with(words, machine);
    findings.extend(
        files
            .iter()
            .map(|(file, line, _)| format!("/{file}, line {line}, sets it")),
    );
    let has_grubby = machine.has("usr/sbin/grubby") || machine.has("usr/bin/grubby");
    let advice = match files.first() {
        _ if has_grubby => format!(
            "Remove {listed} from the kernel's command line, and start the machine again: grubby --update-kernel=ALL --remove-args={}",
            shell::word(&words.join(" "))
        ),
        Some((file, _, apply)) => format!(
            "Remove {listed} from /{file}{}, and start the machine again.",
            apply.words(machine)
        ),
        None => format!(
            "Remove {listed} from the kernel's command line, and start the machine again. Most systems set it in /etc/default/grub (then run \
             update-grub, or grub2-mkconfig -o /boot/grub2/grub.cfg), in /etc/kernel/cmdline, or in a file of /boot/loader/entries."
        ),
    };
    (findings, advice)
}

/// Returns the part of a remedy that applies a change of a file of modprobe.d.
pub(super) fn initial(machine: &Machine) -> String {
    Apply::First.words(machine)
}

/// Returns the remedy for a line of a file that forbids a kernel module. `reason` may name programs that write such a line.
pub(super) fn remove_line(reason: &str, machine: &Machine) -> String {
    format!(
        "Remove the line that forbids the module from the file{}, and start the machine again.{reason}",
        Apply::First.words(machine)
    )
}

/// Returns the files that set one of `words` on the kernel's command line, each with the number of the line.
fn files_with(words: &[&str], machine: &Machine) -> Vec<(String, usize, Apply)> {
    let below = |folder: &str, apply: Apply| -> Vec<(String, Apply)> {
        let names = machine.names(folder).into_iter();
        names.map(|name| (format!("{folder}/{name}"), apply)).collect()
    };
    let mut files: Vec<(String, Apply)> = FILES.iter().map(|(file, apply)| ((*file).into(), *apply)).collect();
    files.extend(below(GRUB_FOLDER, Apply::Grub));
    files.extend(ENTRIES.iter().flat_map(|folder| below(folder, Apply::Nothing)));
    let place = |file: &str| {
        let text = machine.text(file);
        let has_word = |line: &str| {
            let mut all = line.split(|one: char| one.is_whitespace() || matches!(one, '"' | '\''));
            !line.trim_start().starts_with('#') && all.any(|one| words.contains(&one))
        };
        Some(text.lines().position(has_word)? + 1)
    };
    files
        .into_iter()
        .filter_map(|(file, apply)| Some((place(&file)?, file, apply)))
        .map(|(line, file, apply)| (file, line, apply))
        .collect()
}
