//! Assertions that the compiler lays structures out as C does, while it compiles them.

#![cfg_attr(
    not(any(target_pointer_width = "64", vkl_layouts)),
    allow(
        unused_macros,
        unused_imports,
        reason = "the emitted rows are for targets of 64 bits"
    )
)]

/// Asserts rows of bytes: structure, size, alignment, offset of each member.
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
