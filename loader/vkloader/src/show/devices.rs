//! Prints devices, each with the words that select the device in variables.

use super::terminal::{BAD, FAINT, GOOD, Lines, plain};
use crate::causes::words::chooses;
use crate::paths::file_name;
use crate::probe;
use crate::report::Device;
use std::io::{self, Write};

/// Lower bound on the printed digits at the start of a UUID.
const FEWEST_DIGITS: usize = 4;

/// Returns the driver's short name, which is part of its file name: `lvp` for `libvulkan_lvp.so`.
pub(crate) fn driver_word(path: &str) -> &str {
    let file = file_name(path);
    let word = file.split(".so").next().unwrap_or(file);
    let word = word.strip_prefix("lib").unwrap_or(word);
    word.strip_prefix("vulkan_").unwrap_or(word)
}

/// Returns the word that selects a device by its name. The word is the longest part of the name without commas and stars, because a comma
/// would end the word, and a star has a special meaning in patterns.
fn name_word(name: &str) -> Option<String> {
    let parts: Vec<&str> = name.split([',', '*']).collect();
    if parts.len() == 1 && !name.starts_with('~') {
        return (!name.is_empty()).then(|| format!("name:{name}"));
    }
    let longest = parts
        .iter()
        .max_by_key(|part| part.len())
        .filter(|part| !part.is_empty())?;
    Some(format!("name:*{longest}*"))
}

/// Returns the shortest beginning of a UUID that no other device has, in the form of `nvidia-smi`. Returns `None` if another device has the
/// same UUID.
fn uuid_word(own: &str, all: &[probe::Device]) -> Option<String> {
    let begins =
        |device: &&probe::Device, digits: &str| device.uuid.as_deref().is_some_and(|uuid| uuid.starts_with(digits));
    let mut lengths = FEWEST_DIGITS..=own.len();
    let length = lengths.find(|&length| {
        let same = all.iter().filter(|device| begins(device, &own[..length]));
        same.count() == 1
    })?;
    Some(format!("GPU-{}", &own[..length]))
}

/// Returns the words that select a device; the shortest word comes first.
fn words(device: &probe::Device, driver: &str, all: &[probe::Device]) -> Vec<String> {
    let mut words = vec![format!("{:#x}:{:#x}", device.vendor, device.device)];
    // The variables that select devices have no word for the device type `other`.
    words.extend((device.kind != "other").then(|| format!("type:{}", device.kind)));
    words.extend(device.pci.as_ref().map(|pci| format!("pci:{pci}")));
    // A driver without UUIDs reports zeros for both UUIDs.
    let zero = |uuid: &Option<String>| {
        uuid.as_deref()
            .is_none_or(|uuid| uuid.chars().all(|digit| digit == '0'))
    };
    if let Some(uuid) = device
        .uuid
        .as_ref()
        .filter(|_| !zero(&device.uuid) || !zero(&device.driver_uuid))
    {
        words.extend(uuid_word(uuid, all));
        words.push(format!("uuid:{uuid}"));
    }
    words.extend((!driver.is_empty()).then(|| format!("driver:{}", driver_word(driver))));
    words.extend(name_word(&device.name));
    words.sort_by_key(|word| word.chars().count());
    words
}

/// Prints devices with the words that select each of them. `matched` has the same devices with their drivers.
///
/// # Errors
/// Writing to standard output fails.
pub(crate) fn devices(devices: &[probe::Device], matched: &[Device]) -> io::Result<()> {
    let mut lines = Lines::new();
    if devices.is_empty() {
        lines.wrapped(("", ""), BAD, "No device can be used; vkloader explain reports why.")?;
    }
    for (place, device) in devices.iter().enumerate() {
        lines.wrapped((&format!("{place:>3}  "), "     "), GOOD, &device.name)?;
        let driver = matched.get(place).map_or("", |device| &device.driver);
        for word in words(device, driver, devices) {
            let others = matched.iter().enumerate();
            let others = others.filter(|(other, device)| *other != place && chooses(&word, device));
            let others: Vec<String> = others.map(|(other, _)| other.to_string()).collect();
            let also = if others.is_empty() {
                String::new()
            } else {
                format!("  # also chooses {}", others.join(", "))
            };
            // Does not wrap the line, because users copy it into a shell.
            let quoted = plain(&word).replace('\'', "'\\''");
            writeln!(lines.out, "{FAINT}     '{quoted}'{also}{FAINT:#}")?;
        }
    }
    if !devices.is_empty() {
        let use_of_words = "VK_LOADER_VISIBLE_DEVICES=WORD,WORD shows these devices only; VK_LOADER_DEVICE_SELECT=WORD lists a device first.";
        lines.wrapped(("", ""), FAINT, use_of_words)?;
    }
    lines.out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_beginning_of_a_uuid_is_as_long_as_it_must_be() {
        let device = |uuid: &str| probe::Device {
            uuid: Some(uuid.into()),
            ..probe::Device::default()
        };
        let all = [
            device("12345678"),
            device("12345600"),
            device("abcdef00"),
            device("abcdef00"),
        ];
        assert_eq!(uuid_word("12345678", &all).as_deref(), Some("GPU-1234567"));
        assert_eq!(uuid_word("abcdef00", &all), None, "two devices have it");
        assert_eq!(uuid_word("12345678", &all[..1]).as_deref(), Some("GPU-1234"));
    }

    #[test]
    fn the_word_of_a_name_has_nothing_that_means_something_else() {
        for (name, word) in [
            ("llvmpipe", Some("name:llvmpipe")),
            ("llvmpipe (LLVM 15.0.6, 256 bits)", Some("name:*llvmpipe (LLVM 15.0.6*")),
            ("a*bc", Some("name:*bc*")),
            ("~all~", Some("name:*~all~*")),
            ("", None),
            (",", None),
        ] {
            assert_eq!(name_word(name).as_deref(), word, "{name}");
        }
    }
}
