//! Finds the functions of Vulkan that the functions on a stack called, and the files that these calls reached. The last step
//! of a called function may have been a jump, so that a driver or layer that a call reached need not be on the stack.

use super::super::callee;
use super::super::unwind::Walk;
use super::{Function, Point, file};
use crate::paths::file_name;
use std::path::Path;

/// Number at the beginning of the tables of devices.
const OF_DEVICES: u64 = 0x10AD_ED04_0410_ADED;
/// Upper bound on the number of bytes of a table of functions.
const LARGEST_TABLE: usize = 1 << 13;

/// Returns for each function the name of the function of Vulkan that it called in another file, and the file that the call reached. Both are
/// `None` if they are unknown.
pub(super) fn calls(walk: &Walk<'_>, functions: &[Function]) -> (Vec<Option<String>>, Vec<Option<String>>) {
    let (mut names, mut files) = (vec![None], vec![None]);
    for (index, pair) in functions.windows(2).enumerate() {
        let [inner, outer] = pair else { break };
        let is_other = file(walk, inner.at) != file(walk, outer.at);
        let call = Call::of(walk, outer, &functions[index + 2..]).filter(|_| is_other);
        names.push(call.as_ref().and_then(|call| call.name(inner)));
        files.push(call.and_then(|call| call.reached()));
    }
    (names, files)
}

/// A call of a function on the stack.
struct Call<'a> {
    walk: &'a Walk<'a>,
    point: Point<'a>,
    /// Address of the called function, if the address is known.
    target: Option<u64>,
    /// File of the function that made the call.
    own: Option<&'a str>,
}

impl<'a> Call<'a> {
    /// Returns the call that `function` made. `callers` are the functions that called it.
    fn of(walk: &'a Walk<'a>, function: &'a Function, callers: &'a [Function]) -> Option<Self> {
        let flow = function.flow.as_ref()?;
        let point = function.point(walk, callers)?;
        Some(Self {
            walk,
            target: point
                .called(flow, function.last_step.as_ref())
                .map(|target| through_stub(walk, target)),
            point,
            own: file(walk, function.at),
        })
    }

    /// Returns the file of the target, if it is another file, and the address of the target in this file.
    fn place(&self) -> Option<(&'a str, u64)> {
        let target = self.target?;
        let other = file(self.walk, target).filter(|other| Some(*other) != self.own)?;
        let bias = super::super::cfi::bias(self.walk.memory, self.walk.maps.base(target)?)?;
        Some((other, target.wrapping_sub(bias)))
    }

    /// Returns the name of the called function of Vulkan. `inner` is the function on the stack that the call led to.
    fn name(&self, inner: &Function) -> Option<String> {
        let exported = self
            .place()
            .and_then(|(file, at)| callee::exported(Path::new(file), at));
        exported.or_else(|| {
            let start = inner.extent.filter(|extent| extent.is_whole).map(|extent| extent.start);
            let words = self.table()?;
            let place_of = |function: u64| words.chunks_exact(8).position(|word| word == function.to_le_bytes());
            let place = start.and_then(place_of).or_else(|| self.target.and_then(place_of))?;
            let mut loaders = self.walk.maps.files().filter(|file| is_loader(file));
            loaders.find_map(|file| callee::through(Path::new(file), place as u64 * 8))
        })
    }

    /// Returns the table of functions of the device that the first argument belongs to.
    fn table(&self) -> Option<Vec<u8>> {
        let handle = self.point.number(self.point.first())?;
        let table = self.walk.memory.word(handle, 8)?;
        let words = self.walk.memory.bytes(table, LARGEST_TABLE);
        // The handles of instances and physical devices lead to other tables.
        words.starts_with(&OF_DEVICES.to_le_bytes()).then_some(words)
    }

    /// Returns the file that the call reached. For a function of the loader that only jumps to a layer or driver, returns the file of the layer
    /// or driver.
    fn reached(&self) -> Option<String> {
        let (file, at) = self.place()?;
        if !is_loader(file) {
            return Some(file.into());
        }
        let place = usize::try_from(callee::place_in_table(Path::new(file), at)?).ok()?;
        let words = self.table()?;
        let word = words.get(place..place.checked_add(8)?)?;
        let target = u64::from_le_bytes(word.try_into().ok()?);
        super::file(self.walk, target).map(String::from)
    }
}

/// Returns the address to which a stub of the procedure linkage table at `target` jumps. Returns `target` if other code is there.
fn through_stub(walk: &Walk<'_>, target: u64) -> u64 {
    const MARK: [u8; 4] = [0xF3, 0x0F, 0x1E, 0xFA];
    let code = walk.memory.bytes(target, 11);
    let unmarked = code.strip_prefix(&MARK).unwrap_or(&code);
    let jump = unmarked.strip_prefix(&[0xF2]).unwrap_or(unmarked);
    let [0xFF, 0x25, offset @ ..] = jump else { return target };
    let Some(offset) = offset.first_chunk() else {
        return target;
    };
    let length = code.len() - jump.len() + 6;
    let slot = target
        .wrapping_add(length as u64)
        .wrapping_add_signed(i32::from_le_bytes(*offset).into());
    walk.memory.word(slot, 8).unwrap_or(target)
}

/// Returns `true` for the library of a Vulkan loader.
fn is_loader(file: &str) -> bool {
    file_name(file).starts_with("libvulkan.so")
}
