//! Asks a driver about its devices.

use super::ask::{HEAD, StructureMemory, in_all_ways};
use super::ways::Way;
use crate::vulkan::{self, Code, ExtensionProperties, Handle, Unknown, listed};
use record::{Builder, DRIVER, Key, Query, STRUCTURES, Structure};
use std::ffi::{CStr, c_char, c_void};
use std::ptr;

/// Type of a command that fills one structure.
type Fill = unsafe extern "system" fn(Handle, *mut c_void);
/// Type of a command that fills one structure for a format.
type FillFormat = unsafe extern "system" fn(Handle, i32, *mut c_void);
/// Type of a command that fills an array.
type FillAll = unsafe extern "system" fn(Handle, *mut u32, *mut c_void);
/// Type of a command that fills an array and can fail.
type List = unsafe extern "system" fn(Handle, *mut u32, *mut c_void) -> Code;

/// The commands and sizes for a base structure such as `VkPhysicalDeviceProperties`, and for its outer structure, such as
/// `VkPhysicalDeviceProperties2`. The outer structure contains the base structure and can start a chain.
struct Question {
    query: Query,
    plain: &'static CStr,
    /// The command that accepts a chain, and the older name of the same command.
    chained: [&'static CStr; 2],
    kind: u32,
    size: usize,
    outer: usize,
}

const PROPERTIES: Question = Question {
    query: Query::Properties,
    plain: c"vkGetPhysicalDeviceProperties",
    chained: [c"vkGetPhysicalDeviceProperties2", c"vkGetPhysicalDeviceProperties2KHR"],
    kind: 1_000_059_001,
    size: 824,
    outer: 840,
};
const FEATURES: Question = Question {
    query: Query::Features,
    plain: c"vkGetPhysicalDeviceFeatures",
    chained: [c"vkGetPhysicalDeviceFeatures2", c"vkGetPhysicalDeviceFeatures2KHR"],
    kind: 1_000_059_000,
    size: 220,
    outer: 240,
};
const MEMORY: Question = Question {
    query: Query::Memory,
    plain: c"vkGetPhysicalDeviceMemoryProperties",
    chained: [
        c"vkGetPhysicalDeviceMemoryProperties2",
        c"vkGetPhysicalDeviceMemoryProperties2KHR",
    ],
    kind: 1_000_059_006,
    size: 520,
    outer: 536,
};
const FAMILIES: Question = Question {
    query: Query::QueueFamilies,
    plain: c"vkGetPhysicalDeviceQueueFamilyProperties",
    chained: [
        c"vkGetPhysicalDeviceQueueFamilyProperties2",
        c"vkGetPhysicalDeviceQueueFamilyProperties2KHR",
    ],
    kind: 1_000_059_005,
    size: 24,
    outer: 40,
};
const FORMAT: Question = Question {
    query: Query::Format,
    plain: c"vkGetPhysicalDeviceFormatProperties",
    chained: [
        c"vkGetPhysicalDeviceFormatProperties2",
        c"vkGetPhysicalDeviceFormatProperties2KHR",
    ],
    kind: 1_000_059_002,
    size: 12,
    outer: 32,
};

/// Ranges of format numbers. Each row has the minor version of Vulkan that a device needs for the formats, the first number, and the last
/// number.
const FORMATS: [(u32, u32, u32); 5] = [
    (0, 1, 184),
    (1, 1_000_156_000, 1_000_156_033),
    (3, 1_000_066_000, 1_000_066_013),
    (3, 1_000_330_000, 1_000_330_003),
    (3, 1_000_340_000, 1_000_340_001),
];

/// Casts a command to its type.
///
/// # Safety
/// `T` must be the type of the command.
pub(super) unsafe fn typed<T: Copy>(found: Unknown) -> T {
    assert_eq!(size_of::<T>(), size_of::<Unknown>());
    // SAFETY: the caller promises that `T` is the type of the function, so `T` is a function pointer of the same size as `Unknown`.
    unsafe { std::mem::transmute_copy(&found) }
}

impl Question {
    fn chained_in(&self, way: &Way) -> Option<Unknown> {
        self.chained.iter().find_map(|name| way.find(name))
    }

    fn extensions(&self) -> impl Iterator<Item = &'static Structure> {
        let query = self.query;
        STRUCTURES.iter().filter(move |one| one.query == query && one.kind != 0)
    }

    /// Returns the padding of the base structure. All other structures of the query extend the base structure.
    fn gaps(&self) -> &'static [(u16, u16)] {
        let inner = STRUCTURES.iter().find(|one| one.query == self.query && one.kind == 0);
        inner.map_or(&[], |inner| inner.gaps)
    }

    /// Asks for the base structure. `call` calls the command with the memory. Returns `None` if the driver fills the base structure
    /// differently when the base structure is a part of the outer structure.
    fn plain(&self, ways: &[Way], call: impl Fn(&Way, Unknown, *mut u8)) -> Option<Vec<u8>> {
        let inner = in_all_ways(ways, self.gaps(), |way, pattern| {
            let mut room = StructureMemory::filled(self.size, pattern);
            call(way, way.find(self.plain)?, room.start());
            Some(room.bytes(0, self.size))
        })?;
        let outer = in_all_ways(ways, self.gaps(), |way, pattern| {
            let mut room = StructureMemory::filled(self.outer, pattern);
            room.begin(0, self.kind, ptr::null_mut());
            call(way, self.chained_in(way)?, room.start());
            Some(room.bytes(HEAD, self.size))
        });
        outer.is_none_or(|outer| outer == inner).then_some(inner)
    }

    /// Asks for a structure that extends the base structure through the chain.
    fn extended(&self, ways: &[Way], one: &Structure, call: impl Fn(&Way, Unknown, *mut u8)) -> Option<Vec<u8>> {
        let size = usize::from(one.size);
        in_all_ways(ways, one.gaps, |way, pattern| {
            let found = self.chained_in(way)?;
            let mut room = StructureMemory::filled(self.outer, pattern);
            let mut extension = StructureMemory::filled(size, pattern);
            extension.begin(0, one.kind, ptr::null_mut());
            room.begin(0, self.kind, extension.start());
            call(way, found, room.start());
            Some(without_head(extension.bytes(0, size), pattern))
        })
    }
}

/// Replaces the head of a structure by the pattern, because this program wrote the head. The pattern marks bytes that the driver did not
/// write.
fn without_head(mut bytes: Vec<u8>, pattern: u8) -> Vec<u8> {
    bytes.iter_mut().take(HEAD).for_each(|byte| *byte = pattern);
    bytes
}

/// Adds all facts about a device to the record that is being made.
pub(super) fn add(ways: &[Way], device: u16, made: &mut Builder) {
    for question in [&PROPERTIES, &FEATURES, &MEMORY] {
        let call = |way: &Way, found: Unknown, room: *mut u8| {
            // SAFETY: the commands of the three questions have the type `Fill`, the device belongs to the instance, and the memory is large
            // enough.
            unsafe { typed::<Fill>(found)(way.devices[usize::from(device)], room.cast()) };
        };
        add_one(question, (ways, device, 0), made, call);
    }
    add_families(ways, device, made);
    add_formats(ways, device, made);
    add_extensions(ways, device, made);
    add_tools(ways, device, made);
}

/// Adds a base structure and the structures that extend it. Does not record extensions of the memory properties, because these values
/// change constantly.
fn add_one(
    question: &Question,
    (ways, device, index): (&[Way], u16, u32),
    made: &mut Builder,
    call: impl Fn(&Way, Unknown, *mut u8),
) {
    let key = Key::of(device, question.query).at(index);
    if let Some(value) = question.plain(ways, &call) {
        made.add(key, value);
    }
    for one in question.extensions().filter(|one| one.query != Query::Memory) {
        if let Some(value) = question.extended(ways, one, &call).filter(|value| is_worth(one, value)) {
            made.add(key.with(one.kind), value);
        }
    }
}

/// Returns `false` for a structure that extends the properties of a format, if the driver wrote nothing to the structure. Rows for all such
/// structures would make the record too large.
fn is_worth(one: &Structure, value: &[u8]) -> bool {
    one.query != Query::Format || value.get(2..4) != Some(&[0, 0])
}

fn add_formats(ways: &[Way], device: u16, made: &mut Builder) {
    let properties = PROPERTIES.plain(ways, |way, found, room| {
        // SAFETY: the commands in `PROPERTIES` have the type `Fill`, the device belongs to the instance, and the memory is large enough.
        unsafe { typed::<Fill>(found)(way.devices[usize::from(device)], room.cast()) };
    });
    let answer = properties.as_deref().and_then(record::Answer::read);
    let mut bytes = [0; 824];
    let minor = match answer.and_then(|answer| answer.write(&mut bytes)) {
        Some(()) => record::number(&bytes, 0).unwrap_or(0) >> 12 & 0x3FF,
        None => 0,
    };
    let known = FORMATS.iter().filter(|(needed, ..)| minor >= *needed);
    for format in known.flat_map(|&(_, first, last)| first..=last) {
        let call = |way: &Way, found: Unknown, room: *mut u8| {
            // SAFETY: the commands for formats have the type `FillFormat`, the device belongs to the instance, and the memory is large
            // enough.
            unsafe { typed::<FillFormat>(found)(way.devices[usize::from(device)], format as i32, room.cast()) };
        };
        add_one(&FORMAT, (ways, device, format), made, call);
    }
}

/// Returns the number of queue families, if all instances in `ways` report the same number.
fn families(ways: &[Way], device: u16) -> Option<u32> {
    let counts: Option<Vec<u32>> = ways
        .iter()
        .map(|way| {
            let mut count = 0;
            // SAFETY: the command in `FAMILIES` has the type `FillAll`, and the device belongs to the instance. With a null pointer for the
            // array, the command only writes the number of queue families.
            unsafe {
                typed::<FillAll>(way.find(FAMILIES.plain)?)(
                    way.devices[usize::from(device)],
                    &mut count,
                    ptr::null_mut(),
                );
            }
            Some(count)
        })
        .collect();
    let counts = counts?;
    let first = *counts.first()?;
    (first <= 64 && counts.iter().all(|count| *count == first)).then_some(first)
}

/// Asks for all queue families. If `one` is not `None`, adds this structure to the chain of each family. Returns the memory of one family.
fn of_family(
    way: &Way,
    device: u16,
    (total, family): (u32, u32),
    one: Option<&Structure>,
    pattern: u8,
) -> Option<Vec<u8>> {
    let found = FAMILIES.chained_in(way)?;
    let mut room = StructureMemory::filled(FAMILIES.outer * total as usize, pattern);
    let size = one.map_or(0, |one| usize::from(one.size));
    let mut extensions: Vec<StructureMemory> = (0..total).map(|_| StructureMemory::filled(size, pattern)).collect();
    for (at, extension) in extensions.iter_mut().enumerate() {
        let mut next = ptr::null_mut();
        if let Some(one) = one {
            extension.begin(0, one.kind, ptr::null_mut());
            next = extension.start();
        }
        room.begin(at * FAMILIES.outer, FAMILIES.kind, next);
    }
    let mut count = total;
    // SAFETY: the commands in `FAMILIES` have the type `FillAll`, the device belongs to the instance, and the array has `count` elements.
    unsafe { typed::<FillAll>(found)(way.devices[usize::from(device)], &mut count, room.start().cast()) };
    let family = family as usize;
    Some(match one {
        Some(_) => without_head(extensions[family].bytes(0, size), pattern),
        None => room.bytes(family * FAMILIES.outer + HEAD, FAMILIES.size),
    })
}

fn add_families(ways: &[Way], device: u16, made: &mut Builder) {
    let Some(total) = families(ways, device) else { return };
    let plain = |way: &Way, family: u32, pattern: u8| {
        let mut room = StructureMemory::filled(FAMILIES.size * total as usize, pattern);
        let mut count = total;
        // SAFETY: the command in `FAMILIES` has the type `FillAll`, the device belongs to the instance, and the array has `count` elements.
        unsafe {
            typed::<FillAll>(way.find(FAMILIES.plain)?)(
                way.devices[usize::from(device)],
                &mut count,
                room.start().cast(),
            );
        }
        Some(room.bytes(family as usize * FAMILIES.size, FAMILIES.size))
    };
    let mut all = Vec::new();
    for family in 0..total {
        let value = in_all_ways(ways, FAMILIES.gaps(), |way, pattern| plain(way, family, pattern));
        let outer = in_all_ways(ways, FAMILIES.gaps(), |way, pattern| {
            of_family(way, device, (total, family), None, pattern)
        });
        // If one queue family cannot be recorded, no family is recorded, because a shorter list would look complete.
        match value.filter(|value| outer.as_ref().is_none_or(|outer| outer == value)) {
            Some(value) => all.push(value),
            None => return,
        }
    }
    for (family, value) in (0..).zip(all) {
        let key = Key::of(device, Query::QueueFamilies).at(family);
        made.add(key, value);
        for one in FAMILIES.extensions() {
            let value = in_all_ways(ways, one.gaps, |way, pattern| {
                of_family(way, device, (total, family), Some(one), pattern)
            });
            if let Some(value) = value {
                made.add(key.with(one.kind), value);
            }
        }
    }
}

fn add_extensions(ways: &[Way], device: u16, made: &mut Builder) {
    let mut known: Option<Vec<(Vec<u8>, u32)>> = None;
    for way in ways {
        let Some(found) = way.find(c"vkEnumerateDeviceExtensionProperties") else {
            return;
        };
        type Enumerate = unsafe extern "system" fn(Handle, *const c_char, *mut u32, *mut ExtensionProperties) -> Code;
        // SAFETY: the type is that of the command in the registry.
        let enumerate = unsafe { typed::<Enumerate>(found) };
        // SAFETY: the device belongs to the instance. The command fills lists as `listed` requires, and accepts a null layer name.
        let all = unsafe { listed(|count, all| enumerate(way.devices[usize::from(device)], ptr::null(), count, all)) };
        let Ok(all) = all else { return };
        let name = |one: &ExtensionProperties| one.name.split(|byte| *byte == 0).next().unwrap_or_default().to_vec();
        let all: Vec<_> = all.iter().map(|one| (name(one), one.version)).collect();
        let is_usual = all.iter().all(|(name, _)| (1..=255).contains(&name.len()));
        if !is_usual || known.as_ref().is_some_and(|known| *known != all) {
            return;
        }
        known = Some(all);
    }
    let known = known.unwrap_or_default();
    made.add_extensions(device, known.iter().map(|(name, version)| (&name[..], *version)));
}

/// Records that a device has no tools, which is true for nearly all devices. If the driver reports a tool, nothing is recorded, and the
/// library asks the driver.
fn add_tools(ways: &[Way], device: u16, made: &mut Builder) {
    let mut is_asked = false;
    for way in ways {
        let names = [
            c"vkGetPhysicalDeviceToolProperties",
            c"vkGetPhysicalDeviceToolPropertiesEXT",
        ];
        let Some(found) = names.into_iter().find_map(|name| way.find(name)) else {
            continue;
        };
        let mut count = 0;
        // SAFETY: the commands that list tools have the type `List`, and the device belongs to the instance. With a null pointer for the
        // list, the command only writes the number of tools.
        let code = unsafe { typed::<List>(found)(way.devices[usize::from(device)], &mut count, ptr::null_mut()) };
        if (code, count) != (vulkan::SUCCESS, 0) {
            return;
        }
        is_asked = true;
    }
    if is_asked {
        made.add(Key::of(device, Query::NoTools), Vec::new());
    }
}

/// Size of `VkPhysicalDeviceGroupProperties` in bytes.
const GROUP: usize = 288;
const GROUP_KIND: u32 = 1_000_070_000;
/// Upper bound on the number of devices of a group.
const MOST_OF_GROUP: usize = 32;

/// Returns the device groups of an instance. Each group has the numbers of its devices, and `subsetAllocation`.
fn groups(way: &Way) -> Option<Vec<Vec<u8>>> {
    let names = [
        c"vkEnumeratePhysicalDeviceGroups",
        c"vkEnumeratePhysicalDeviceGroupsKHR",
    ];
    let found = names.into_iter().find_map(|name| way.find(name))?;
    // SAFETY: the type is that of the command in the registry.
    let list = unsafe { typed::<List>(found) };
    let mut count = 0;
    // SAFETY: the instance is live. With a null pointer for the array, the command only writes the number of device groups.
    vulkan::succeeded(unsafe { list(way.instance(), &mut count, ptr::null_mut()) }).ok()?;
    let total = count.min(64) as usize;
    let mut room = StructureMemory::filled(GROUP * total, 0);
    (0..total).for_each(|at| room.begin(at * GROUP, GROUP_KIND, ptr::null_mut()));
    // SAFETY: the instance is live, and the array has `count` elements.
    let code = unsafe { list(way.instance(), &mut count, room.start().cast()) };
    if code != vulkan::SUCCESS || count as usize != total {
        return None;
    }
    let group = |at: usize| {
        let bytes = room.bytes(at * GROUP, GROUP);
        let devices = record::number(&bytes, HEAD)? as usize;
        let handles = (0..devices.min(MOST_OF_GROUP)).map(|place| {
            let start = HEAD + 8 + place * 8;
            let handle = u64::from_ne_bytes(bytes.get(start..start + 8)?.try_into().ok()?);
            way.devices.iter().position(|known| known.addr() as u64 == handle)
        });
        let mut value = vec![u8::from(record::number(&bytes, GROUP - 8)? != 0)];
        for place in handles {
            value.push(u8::try_from(place?).ok()?);
        }
        Some(value)
    };
    (0..total).map(group).collect()
}

/// Adds the device groups, if all instances that have the command list the same groups.
pub(super) fn add_groups(ways: &[Way], made: &mut Builder) {
    let mut known: Option<Vec<Vec<u8>>> = None;
    let has = |way: &&Way| way.has("vkEnumeratePhysicalDeviceGroups") || way.has("vkEnumeratePhysicalDeviceGroupsKHR");
    for way in ways.iter().filter(has) {
        match (groups(way), &known) {
            (Some(found), Some(known)) if *known == found => {}
            (Some(found), None) => known = Some(found),
            _ => return,
        }
    }
    for (index, value) in (0..).zip(known.unwrap_or_default()) {
        made.add(Key::of(DRIVER, Query::Group).at(index), value);
    }
}
