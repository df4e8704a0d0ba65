//! Finds what reserves a graphics card for virtual machines.

use super::boot;
use super::kernel::settings;
use super::machine::Machine;
use crate::report::{Card, Dropped, codes};

/// Beginnings of words of the kernel's command line that reserve cards.
const WORDS: [&str; 2] = ["vfio-pci.ids=", "pci-stub.ids="];

/// Kernel drivers that reserve a card for a virtual machine.
const DRIVERS: [&str; 2] = ["vfio-pci", "pci-stub"];

/// Returns `true` for a kernel driver that reserves a card for a virtual machine.
pub(in crate::causes) fn is_for_guests(driver: &str) -> bool {
    DRIVERS.contains(&driver)
}

/// Returns the finding about a card that is reserved for virtual machines, with the file or word that reserves it.
pub(super) fn reserved(card: &Card, machine: &Machine) -> Dropped {
    let mut found = codes::HARDWARE_FOR_GUESTS.about(card.to_string());
    let own = format!("{:04x}:{:04x}", card.vendor, card.device);
    let line = machine.text("proc/cmdline");
    let names_card = |word: &&str| {
        let ids = WORDS.iter().find_map(|beginning| word.strip_prefix(beginning));
        ids.is_some_and(|ids| has_card(ids, &own))
    };
    if let Some((file, number)) = in_files(&own, machine) {
        found.findings.push(format!("/{file}, line {number}, reserves {own}"));
        found.advice = format!(
            "Remove {own} from line {number} of /{file}{}, and start the machine again; or use the card in the virtual machine.",
            boot::initial(machine)
        );
    } else if let Some(word) = line.split_whitespace().find(names_card) {
        (found.findings, found.advice) = boot::remove(&[word], machine);
    } else {
        let (place, device) = (&card.place, format!("/sys/bus/pci/devices/{}", card.place));
        let driver = card.kernel_driver.as_deref().unwrap_or_default();
        found.findings.push(
            "no file of modprobe.d and no word of the kernel's command line reserves it, so a program did, such as libvirt",
        );
        found.advice = format!(
            "Bind the card to its own kernel driver: shut the virtual machine down, and then, as the superuser: echo >{device}/driver_override; echo {place} \
             >/sys/bus/pci/drivers/{driver}/unbind; echo {place} >/sys/bus/pci/drivers_probe"
        );
    }
    found
}

/// Returns `true` if a list of numbers contains the card. An item may have further numbers after the first two.
fn has_card(ids: &str, own: &str) -> bool {
    ids.split(',').any(|id| id.to_lowercase().starts_with(own))
}

/// Returns the file that gives the card to a kernel driver for virtual machines, and the line: `options vfio-pci ids=…`.
fn in_files(own: &str, machine: &Machine) -> Option<(String, usize)> {
    let reserves = |line: &str| {
        let mut words = line.split_whitespace();
        let is_options =
            words.next() == Some("options") && words.next().is_some_and(|name| is_for_guests(&name.replace('_', "-")));
        is_options
            && words
                .filter_map(|word| word.strip_prefix("ids="))
                .any(|ids| has_card(ids, own))
    };
    settings(machine).into_iter().find_map(|path| {
        let line = machine.text(&path).lines().position(reserves)?;
        Some((path, line + 1))
    })
}
