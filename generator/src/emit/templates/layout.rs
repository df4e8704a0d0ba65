//! Sizes, alignments and offsets in bytes, as C defines them on 64-bit targets.
#![cfg(target_pointer_width = "64")]

use super::*;
use crate::handle::Driver;
use core::mem::offset_of;

/// A row: structure, size, alignment, offset of each member.
macro_rules! layouts {
    ($($name:ty: $size:literal, $align:literal, $($member:ident $offset:literal),*;)*) => {
        $(const _: () = {
            assert!(size_of::<$name>() == $size);
            assert!(align_of::<$name>() == $align);
            $(assert!(offset_of!($name, $member) == $offset);)*
        };)*
    };
}
