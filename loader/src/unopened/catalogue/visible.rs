//! Finds drivers whose devices are all hidden from an instance (DRV-143a).

use super::Seen;
use ::catalogue::{Device, Entry};
use discovery::env::device_select::{DeviceWords, Wanted, lower_case, pci_address};
use discovery::text::file_name;

/// Returns `true` if a driver has devices, and no word of `words` can select any of these devices.
#[inline(never)]
pub(super) fn hides(words: &DeviceWords, entry: Entry<'_, Seen<'_>>) -> bool {
    entry.has_only(&|device| !words.wanted().any(|(_, wanted)| may_be(device, entry, wanted)))
}

/// Returns `true` if a word may select a device. A missing value may match any word. A PCI address must match, because `vkloader` queries
/// it in the same way as the library.
fn may_be(device: Device<'_>, entry: Entry<'_, Seen<'_>>, wanted: &Wanted) -> bool {
    match wanted {
        // The vendor is not compared, because Mesa may read another vendor from its configuration files for some programs.
        Wanted::Numbers(_, number) => device.device.is_none_or(|known| known == u64::from(*number)),
        Wanted::Pci(place) => device.pci.and_then(pci_address) == Some(*place),
        Wanted::Uuid(beginning) => device.uuid.and_then(uuid).is_none_or(|known| beginning.begins(&known)),
        Wanted::Type(word) => device.kind.is_none_or(|known| known == word.as_bytes()),
        Wanted::Driver(part) => [entry.named, entry.path].into_iter().any(|path| {
            let name = lower_case(file_name(path));
            part.is_empty() || name.windows(part.len()).any(|found| found == part)
        }),
        // The name is not compared, because Mesa may read another name from its configuration files, which may have a section for each
        // program.
        Wanted::Name(_) => true,
    }
}

/// Reads a UUID; returns `None` if the text is not a whole UUID.
fn uuid(text: &[u8]) -> Option<[u8; 16]> {
    let mut found = [0; 16];
    let mut digits = text.iter().filter(|&&byte| byte != b'-');
    for byte in &mut found {
        let mut digit = || char::from(*digits.next()?).to_digit(16);
        *byte = (digit()? * 16 + digit()?) as u8;
    }
    Some(found)
}
