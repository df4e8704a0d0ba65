//! Tests that written records can be read, and that reading never panics, whatever the bytes are.

use super::*;

/// Keys of structures with 24 bytes: `VkPhysicalDeviceMultiviewProperties` and `VkPhysicalDeviceDynamicRenderingFeatures`.
const PROPERTIES: Key = Key::of(0, Query::Properties).with(1_000_053_002);
const FEATURES: Key = Key::of(1, Query::Features).with(1_000_044_003);

fn sample() -> (Vec<u8>, u64) {
    let mut made = Builder::new(2);
    let written: Vec<bool> = (0..24).map(|at| at >= 16 && at != 20).collect();
    let bytes: Vec<u8> = (0..24).collect();
    made.add(PROPERTIES, Builder::structure(&bytes, &written));
    made.add(FEATURES, Builder::structure(&bytes, &[false; 24]));
    made.add_extensions(0, [(&b"VK_KHR_one"[..], 7), (b"VK_KHR_two", 9)].into_iter());
    for (index, bits) in [(0, 0b001), (1, 0b011), (2, 0b100), (3, 0b000)] {
        made.add(Key::of(DRIVER, Query::Commands).at(index), vec![bits]);
    }
    made.finish().expect("a small record")
}

#[test]
fn drv_280_values_are_read_as_they_were_written() {
    let (file, sum) = sample();
    let record = Record::read(&file, sum).expect("a record");
    assert_eq!((record.devices(), record.len()), (2, 7));
    let (_, answer) = record.answer(PROPERTIES).expect("an answer");
    let mut structure = [0xAA; 24];
    answer.write(&mut structure).expect("room");
    assert_eq!(structure[14..24], [0xAA, 0xAA, 16, 17, 18, 19, 0xAA, 21, 22, 23]);
    assert!(answer.is_in(&structure));
    structure[19] ^= 1;
    assert!(!answer.is_in(&structure));
    assert!(answer.write(&mut structure[..23]).is_none());
    let (_, answer) = record.answer(FEATURES).expect("an answer");
    let mut untouched = [0xAA; 24];
    answer.write(&mut untouched).expect("room");
    assert_eq!(untouched, [0xAA; 24]);
    let (_, list) = record.find(Key::of(0, Query::Extensions)).expect("a list");
    let all: Vec<_> = Extensions(list).collect();
    assert_eq!(all, [(&b"VK_KHR_one"[..], 7), (b"VK_KHR_two", 9)]);
    assert!(record.find(Key::of(0, Query::Features)).is_none());
}

#[test]
fn drv_280_answers_of_another_size_are_no_answers() {
    let value = |key: Key, size: usize| {
        let written: Vec<bool> = (0..size).map(|at| key.kind == 0 || at >= 16).collect();
        Builder::structure(&vec![7; size], &written)
    };
    let keys = [
        (Key::of(0, Query::Properties), 824),
        (PROPERTIES, 24),
        (Key::of(0, Query::Format), 12),
    ];
    for (key, size) in keys {
        for (recorded, is_one) in [(size, true), (size - 4, false), (size + 8, false), (4000, false)] {
            let mut made = Builder::new(1);
            made.add(key, value(key, recorded));
            let (file, sum) = made.finish().expect("a small record");
            let record = Record::read(&file, sum).expect("a record");
            assert_eq!(record.answer(key).is_some(), is_one, "{key:?} {recorded}");
        }
    }
    // An answer with a byte of `pNext` is not used, because the chain belongs to the program.
    let mut made = Builder::new(1);
    let written: Vec<bool> = (0..24).map(|at| at >= 15).collect();
    made.add(PROPERTIES, Builder::structure(&[7; 24], &written));
    let (file, sum) = made.finish().expect("a small record");
    assert!(Record::read(&file, sum).expect("a record").answer(PROPERTIES).is_none());
    for other in [
        Key::of(0, Query::Features).with(PROPERTIES.kind),
        Key::of(0, Query::Properties).with(7),
        Key::of(0, Query::Callbacks),
    ] {
        assert_eq!(rows::size_of(other), None, "{other:?}");
    }
}

#[test]
fn drv_280_commands_depend_on_version_and_extensions() {
    let (file, sum) = sample();
    let record = Record::read(&file, sum).expect("a record");
    assert_eq!(record.has_command(0, 0, || Some(false)), Some(true));
    assert_eq!(record.has_command(0, 1, || Some(false)), Some(false));
    assert_eq!(record.has_command(0, 1, || Some(true)), Some(true));
    assert_eq!(record.has_command(0, 2, || Some(true)), Some(false));
    assert_eq!(
        record.has_command(1, 2, || Some(true)),
        None,
        "the command is missing with all extensions, so the record has no answer"
    );
    assert_eq!(
        record.has_command(0, 9, || Some(true)),
        None,
        "the row has no bit for the command"
    );
    assert_eq!(record.has_command(4, 0, || Some(true)), None, "no row");
}

#[test]
fn drv_280_altered_bytes_are_noticed_and_never_panic() {
    let (file, sum) = sample();
    for at in 0..file.len() {
        for bit in [1, 0x80] {
            let mut other = file.clone();
            other[at] ^= bit;
            // Reserved words of the head are part of the checksum too.
            assert!(Record::read(&other, sum).is_none(), "byte {at}");
        }
    }
    for length in 0..file.len() {
        assert!(Record::read(&file[..length], sum).is_none());
    }
}

#[test]
fn drv_280_no_content_with_a_valid_checksum_panics() {
    let (file, _) = sample();
    let mut state = 1_u64;
    let mut random = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize
    };
    for _ in 0..20_000 {
        let mut other = file.clone();
        for _ in 0..1 + random() % 6 {
            let at = 24 + random() % (other.len() - 24);
            other[at] = random() as u8;
        }
        let sum = checksum(&other[24..]);
        other[16..24].copy_from_slice(&sum.to_le_bytes());
        let Some(record) = Record::read(&other, sum) else {
            continue;
        };
        let mut room = [0; 64];
        for place in 0..record.len() {
            let Some((key, value)) = record.row(place) else {
                continue;
            };
            record.find(key);
            let _ = Extensions(value).count();
            if let Some(answer) = Answer::read(value) {
                let _ = (answer.write(&mut room), answer.is_in(&room));
            }
        }
        let _ = record.has_command(0, 3, || Some(true));
    }
}

#[test]
fn drv_280_structures_of_the_registry_are_plain_and_small() {
    assert!(STRUCTURES.len() > 300);
    assert!(STRUCTURES.iter().all(|one| one.size >= 12 && one.size < 4096));
    let has = |name: &str| STRUCTURES.iter().any(|one| one.name == name);
    assert!(has("VkPhysicalDeviceVulkan12Properties") && has("VkFormatProperties3"));
    // These structures contain pointers, so they cannot be recorded.
    assert!(!has("VkPhysicalDeviceVulkan14Properties") && !has("VkDrmFormatModifierPropertiesListEXT"));
    assert!(COMMANDS.is_sorted());
}

#[test]
fn drv_284_names_of_profiles_are_found_within_names() {
    let lines = b"DOOM\nvkd3d\n\nRage2.exe\n=X";
    for (name, is_one) in [
        ("vkd3d", true),
        ("my doom 3", true),
        ("editor", false),
        ("", false),
        ("VKD3", false),
        ("X", true),
        ("x", true),
        ("xeyes", false),
        ("=X", false),
    ] {
        assert_eq!(mentions(lines, name.as_bytes()), is_one, "{name}");
    }
}

/// A record has at most 64 KiB for each device and 64 KiB for the driver, and a reader refuses a larger file too.
#[test]
fn drv_280_records_have_a_largest_size() {
    let made = |length: usize| {
        let mut made = Builder::new(1);
        made.add(Key::of(DRIVER, Query::Names), vec![b'x'; length]);
        made.finish()
    };
    let most = 2 * MOST_BYTES - HEAD - ROW;
    assert!(made(most + 1).is_none());
    let (mut file, sum) = made(most).expect("the largest record");
    assert_eq!(file.len(), 2 * MOST_BYTES);
    assert!(Record::read(&file, sum).is_some());
    file.push(0);
    assert!(Record::again(&file).is_none());
    assert!(Builder::new(MOST_DEVICES).finish().is_some());
    assert!(Builder::new(MOST_DEVICES + 1).finish().is_none());
}
