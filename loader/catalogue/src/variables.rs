//! Variables that affect the answers of drivers.
//!
//! The table `variables.txt` lists the variables that were tested with installed drivers or are documented, and the answers that each
//! variable changes. A variable that changes no answer never invalidates a catalogue. A variable outside of the table invalidates a
//! catalogue if its name begins like those of drivers' variables, because a driver may read it.

use crate::words;

/// Table of the tested variables. A row has the variable's name, the answers that the variable changes (extensions, version, devices,
/// outcome), and the meaning of an empty value. The row also has the drivers with which the variable was tested. The program
/// `tests/real/variables` writes the table.
const TABLE: &[u8] = include_bytes!("variables.txt");

/// Variables that affect the dynamic linker, followed by beginnings of the names of variables that drivers read. A beginning is in capitals
/// and ends at an underscore. Names are compared without regard to case, because variables in small letters can set options of driconf. The
/// names are one text, because the dynamic linker relocates each address in a list in every process.
const KNOWN: &[u8] = b"\
    LD_AUDIT LD_HWCAP_MASK GLIBC_TUNABLES MESA_ RADV_ ACO_ AMD_ AMDGPU_ AMDVLK_ INTEL_ ANV_ HASVK_ NVK_ NAK_ LP_ \
    GALLIUM_ VN_ TU_ FD_ V3D_ PAN_ PANVK_ PVR_ PCO_ ROGUE_ ASAHI_ AGX_ HK_ NIR_ MDA_ DRI_ DRIRC_ __NV_ __VK_LAYER_NV_ __GL_ \
    NVPRESENT_ DZN_";

/// Variables that change no answer in a catalogue, whatever their value.
const HARMLESS: &[u8] = &names::<{ length(Kind::Harmless) }>(Kind::Harmless);
/// Variables that change no answer in a catalogue if their value is empty.
const HARMLESS_EMPTY: &[u8] = &names::<{ length(Kind::HarmlessEmpty) }>(Kind::HarmlessEmpty);
/// Variables that change answers in a catalogue, and whose names do not begin like a name in [`KNOWN`].
const OTHERS: &[u8] = &names::<{ length(Kind::Other) }>(Kind::Other);

/// Variables whose effect the trials of `tests/real/variables` could not determine, and whose names do not begin like a name in [`KNOWN`].
const UNPROVEN: &[u8] = &names::<{ length(Kind::Unproven) }>(Kind::Unproven);

/// Number of bits in [`BEGINNINGS`].
const BITS: usize = 512;

/// Bit table of the first three letters of all names in [`KNOWN`] and [`OTHERS`]. The table rules out most variables without a search.
const BEGINNINGS: [u64; BITS / 64] = beginnings(&[KNOWN, OTHERS]);

/// Number of bits in [`LISTED`].
const NAME_BITS: usize = 4096;

/// Bit table with two bits for each name in [`TABLE`]. Programs have dozens of variables, and the table rules out most of them without a search.
const LISTED: [u64; NAME_BITS / 64] = listed();

/// Lists that are computed from the table.
#[derive(Clone, Copy)]
enum Kind {
    Harmless,
    HarmlessEmpty,
    Other,
    Unproven,
}

/// Returns `true` if a list contains a name.
fn has(list: &'static [u8], name: &[u8]) -> bool {
    words(list).any(|known| known == name)
}

/// Returns `false` for most names that [`TABLE`] does not contain, and `true` for all others.
fn may_be_listed(name: &[u8]) -> bool {
    let [(word, bit), (other_word, other_bit)] = places(name, (0, name.len()));
    LISTED[word] & bit != 0 && LISTED[other_word] & other_bit != 0
}

/// Returns `true` if a variable that is irrelevant for a catalogue ([`matters`]) may change the record of a driver's devices. The trials
/// that produced `variables.txt` compared catalogues, which contain fewer answers than records. Only variables for shader caches, and
/// documented variables, are assumed to change no record.
pub fn may_change_records(name: &[u8], value: &[u8]) -> bool {
    let is_documented = || name.starts_with(b"__") || name.windows(6).any(|part| part == b"_CACHE");
    let was_tried = || has(HARMLESS, name) || value.is_empty() && has(HARMLESS_EMPTY, name);
    may_be_listed(name) && (has(UNPROVEN, name) || was_tried()) && !is_documented()
}

/// Returns `true` if the variable `name` with the value `value` may change the recorded answers of drivers.
pub fn matters(name: &[u8], value: &[u8]) -> bool {
    let has = |list: &'static [u8]| may_be_listed(name) && has(list, name);
    let begins = |known: &[u8]| {
        if known.ends_with(b"_") {
            name.get(..known.len())
                .is_some_and(|begin| begin.eq_ignore_ascii_case(known))
        } else {
            known == name
        }
    };
    let Some(letters) = name.first_chunk() else {
        return false;
    };
    let (word, bit) = place(*letters);
    BEGINNINGS[word] & bit != 0
        && (words(KNOWN).any(begins) || has(OTHERS))
        && !has(HARMLESS)
        && !(value.is_empty() && has(HARMLESS_EMPTY))
}

/// Returns the index of the word in [`BEGINNINGS`] and the bit for names that begin with these letters.
const fn place([first, second, third]: [u8; 3]) -> (usize, u64) {
    let mut sum = first.to_ascii_uppercase() as usize;
    sum = sum * 31 + second.to_ascii_uppercase() as usize;
    sum = (sum * 31 + third.to_ascii_uppercase() as usize) % BITS;
    (sum / 64, 1 << (sum % 64))
}

const fn beginnings(mut lists: &[&[u8]]) -> [u64; BITS / 64] {
    let mut bits = [0; BITS / 64];
    while let [list, rest @ ..] = lists {
        let mut at = 0;
        while at + 2 < list.len() {
            if at == 0 || list[at - 1] == b' ' {
                let (word, bit) = place([list[at], list[at + 1], list[at + 2]]);
                bits[word] |= bit;
            }
            at += 1;
        }
        lists = rest;
    }
    bits
}

/// Returns the two bits in [`LISTED`] for the name at this part of a text, each with the index of its word.
const fn places(text: &[u8], (begin, end): (usize, usize)) -> [(usize, u64); 2] {
    let (mut hash, mut at) = (0_u64, begin);
    while at < end {
        hash = (hash ^ text[at] as u64).wrapping_mul(0x0000_0100_0000_01B3);
        at += 1;
    }
    let (one, other) = (hash as usize % NAME_BITS, (hash >> 32) as usize % NAME_BITS);
    [(one / 64, 1 << (one % 64)), (other / 64, 1 << (other % 64))]
}

const fn listed() -> [u64; NAME_BITS / 64] {
    let (mut at, mut bits) = (0, [0; NAME_BITS / 64]);
    while at < TABLE.len() {
        let line = line(at);
        if line.is_row {
            let [(word, bit), (other_word, other_bit)] = places(TABLE, line.columns[0]);
            bits[word] |= bit;
            bits[other_word] |= other_bit;
        }
        at = line.next;
    }
    bits
}

/// A line of the table.
struct Line {
    is_row: bool,
    /// Beginning and end of each column.
    columns: [(usize, usize); 4],
    /// Beginning of the next line.
    next: usize,
}

/// Returns the line that begins at an offset of the table.
const fn line(begin: usize) -> Line {
    let (mut next, mut column, mut columns) = (begin, 0, [(begin, begin); 4]);
    while next < TABLE.len() && TABLE[next] != b'\n' {
        if TABLE[next] == b'\t' {
            column += 1;
            columns[column] = (next + 1, next + 1);
        } else {
            columns[column].1 = next + 1;
        }
        next += 1;
    }
    Line {
        is_row: column > 0 && TABLE[begin] != b'#',
        columns,
        next: next + 1,
    }
}

/// Returns `true` if a line of the table belongs to a list of this kind.
const fn belongs(line: &Line, kind: Kind) -> bool {
    let (begin, end) = line.columns[0];
    let (is_harmless, is_known) = (is(line.columns[1], b"nothing"), is_known(begin, end));
    line.is_row
        && match kind {
            // A variable whose name does not begin like a name in [`KNOWN`] is ignored anyway, so this list does not need it.
            Kind::Harmless => is_harmless && is_known,
            Kind::HarmlessEmpty => !is_harmless && is(line.columns[2], b"unset"),
            Kind::Other => !is_harmless && !is_known && !is(line.columns[1], b"unknown"),
            Kind::Unproven => !is_known && is(line.columns[1], b"unknown"),
        }
}

/// Returns `true` if a part of the table is equal to `word`.
const fn is((begin, end): (usize, usize), word: &[u8]) -> bool {
    let mut at = 0;
    while at < word.len() && begin + at < end && TABLE[begin + at] == word[at] {
        at += 1;
    }
    at == word.len() && begin + at == end
}

/// Returns `true` if the name at this part of the table begins like a name in [`KNOWN`].
const fn is_known(begin: usize, end: usize) -> bool {
    let (mut word, mut at) = (0, 0);
    while at <= KNOWN.len() {
        if at == KNOWN.len() || KNOWN[at] == b' ' {
            let mut same = 0;
            while word + same < at
                && begin + same < end
                && KNOWN[word + same] == TABLE[begin + same].to_ascii_uppercase()
            {
                same += 1;
            }
            if word + same == at && KNOWN[at - 1] == b'_' {
                return true;
            }
            word = at + 1;
        }
        at += 1;
    }
    false
}

/// Returns the length of the text that [`names`] returns for a kind.
const fn length(kind: Kind) -> usize {
    let (mut at, mut bytes) = (0, 0);
    while at < TABLE.len() {
        let line = line(at);
        if belongs(&line, kind) {
            let (begin, end) = line.columns[0];
            bytes += end - begin + (bytes > 0) as usize;
        }
        at = line.next;
    }
    bytes
}

/// Returns the names of all variables of a kind as one text, separated by blanks.
const fn names<const BYTES: usize>(kind: Kind) -> [u8; BYTES] {
    let (mut at, mut names, mut bytes) = (0, [b' '; BYTES], 0);
    while at < TABLE.len() {
        let line = line(at);
        if belongs(&line, kind) {
            bytes += (bytes > 0) as usize;
            let (mut from, end) = line.columns[0];
            while from < end {
                names[bytes] = TABLE[from];
                (from, bytes) = (from + 1, bytes + 1);
            }
        }
        at = line.next;
    }
    names
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(list: &[u8]) -> Vec<&str> {
        str::from_utf8(list)
            .unwrap()
            .split(' ')
            .filter(|word| !word.is_empty())
            .collect()
    }

    #[test]
    fn variables_of_drivers_are_told_from_others() {
        for name in [
            "MESA_VK_VERSION_OVERRIDE",
            "RADV_DEBUG",
            "radv_gfx12_hiz_wa",
            "AMD_VULKAN_ICD",
            "AMDGPU_ASIC_ID_TABLE_PATHS",
            "DZN_DEBUG",
            "DRI_NEW",
            "LD_AUDIT",
            "LD_HWCAP_MASK",
            "NVK_I_WANT_A_BROKEN_VULKAN_DRIVER",
            "force_vk_vendor",
        ] {
            assert!(matters(name.as_bytes(), b"1"), "{name}");
        }
        for name in [
            "",
            "L",
            "PATH",
            "HOME",
            "LPDEST",
            "VK_DRIVER_FILES",
            "VK_LOADER_CATALOGUE",
            "DISPLAY",
            "DRI",
            "LD_BIND_NOW",
            "LP_NUM_THREADS",
            "mesa_glthread",
            "LD_LIBRARY_PATH",
            "LD_PRELOAD",
            "__NV_PRIME_RENDER_OFFLOAD",
            "__GLX_VENDOR_LIBRARY_NAME",
        ] {
            assert!(!matters(name.as_bytes(), b"1"), "{name}");
        }
        // Some drivers treat an empty value as an unset variable. The effect of an untested variable is unknown.
        assert!(!matters(b"DRI_PRIME", b"") && matters(b"RADV_NEW", b""));
        for (name, value, may) in [
            ("LP_DEBUG", "x", true),
            ("MESA_DRICONF_EXECUTABLE_OVERRIDE", "x", true),
            ("vk_require_astc", "true", true),
            ("DRI_PRIME", "", true),
            ("DRI_PRIME", "1", false),
            ("DRAW_USE_LLVM", "", true),
            ("MESA_SHADER_CACHE_DIR", "/tmp", false),
            ("__GL_SHADER_DISK_CACHE", "1", false),
            ("PATH", "/", false),
            ("", "", false),
        ] {
            assert_eq!(may_change_records(name.as_bytes(), value.as_bytes()), may, "{name}");
        }
    }

    #[test]
    fn any_name_of_three_bytes_can_be_asked_about() {
        for first in 0..=u8::MAX {
            for second in 0..=u8::MAX {
                assert!(
                    [0, u8::MAX]
                        .iter()
                        .all(|&third| !matters(&[first, second, third], b"1"))
                );
            }
        }
    }

    #[test]
    fn the_lists_have_the_rows_of_the_table() {
        let rows: Vec<Vec<&str>> = str::from_utf8(TABLE)
            .unwrap()
            .lines()
            .filter(|line| !line.starts_with('#'))
            .map(|line| line.split('\t').collect())
            .collect();
        for list in [HARMLESS, HARMLESS_EMPTY, OTHERS, UNPROVEN] {
            assert!(words(list).iter().all(|name| may_be_listed(name.as_bytes())));
        }
        for (index, row) in rows.iter().enumerate() {
            let [name, changes, empty, seen] = row[..] else {
                panic!("{row:?}");
            };
            assert!(
                rows[..index].iter().all(|other| other[0] < name),
                "{name} is repeated, or not in alphabetical order"
            );
            assert!(!name.contains(' ') && !seen.is_empty(), "{name}");
            let harmless = changes == "nothing";
            assert!(harmless || !words(HARMLESS).contains(&name), "{name}");
            assert!(
                harmless
                    || changes
                        .split(',')
                        .all(|one| ["extensions", "version", "devices", "outcome", "unknown"].contains(&one)),
                "{name}"
            );
            assert!(["unset", "counts"].contains(&empty), "{name}");
            let is_doubted = !harmless
                && (changes != "unknown" || words(KNOWN).iter().any(|begin| name.to_uppercase().starts_with(begin)));
            assert_eq!(matters(name.as_bytes(), b"1"), is_doubted, "{name}");
            assert_eq!(matters(name.as_bytes(), b""), is_doubted && empty == "counts", "{name}");
        }
        assert!(rows.len() > 20);
    }

    #[test]
    fn beginnings_are_capitals_and_differ() {
        let all = words(KNOWN);
        for (index, name) in all.iter().enumerate() {
            let is_capital = |byte: u8| byte == b'_' || byte.is_ascii_uppercase() || byte.is_ascii_digit();
            assert!(!name.is_empty() && name.bytes().all(is_capital), "{name}");
            assert!(!all[..index].contains(name), "{name}");
        }
        assert_eq!(all.iter().position(|name| name.ends_with('_')), Some(3));
    }
}
