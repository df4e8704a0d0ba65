//! Compile-time assertions that structures have the layout of C.

#![cfg_attr(
    not(any(target_pointer_width = "64", vkl_layouts)),
    allow(
        unused_macros,
        unused_imports,
        reason = "the emitted rows are for targets of 64 bits"
    )
)]

/// Asserts the layout of structures. Each row has the structure, its size, its alignment and the offset of each member, in bytes.
macro_rules! layouts {
    ($($name:ty: $size:literal, $align:literal, $($member:ident $offset:literal),*;)*) => {
        $(const _: () = {
            assert!(size_of::<$name>() == $size);
            assert!(align_of::<$name>() == $align);
            $(assert!(core::mem::offset_of!($name, $member) == $offset);)*
        };)*
    };
}

pub(crate) use layouts;
