//! Types of parameters and members.

/// A C type as used by a parameter, member or return value, taken apart (GEN-12).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CType {
    /// The named type without pointers and arrays, such as `VkInstance` or `uint32_t`.
    pub base: String,
    /// Pointers from the inside out: one entry for each `*`, which is `true` if the pointer's target is const.
    ///
    /// `const uint32_t* const*` is `[true, true]`; `VkInstance*` is `[false]`.
    pub pointers: Vec<bool>,
    /// Array bounds in order: a literal number or the name of a constant.
    pub array: Vec<String>,
    /// Bit-field width of a member, such as 24 in `uint32_t mask:24`.
    pub bits: Option<u32>,
    /// `true` if the declaration says `struct` before the name.
    pub is_struct_tag: bool,
    /// `true` if a plain value or an array element is const, as in `const float[4]`.
    pub is_const: bool,
}

/// A handle type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Name.
    pub name: String,
    /// Declared with `VK_DEFINE_HANDLE`.
    pub dispatchable: bool,
    /// Parent handle or handles, as written (comma-separated in a few cases).
    pub parent: Option<String>,
    /// `objtypeenum`, the name of the `VkObjectType` enumerant.
    pub object_type: String,
}

/// Structure or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StructKind {
    /// `struct`.
    Struct,
    /// `union`.
    Union,
}

/// A structure or union with its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Name.
    pub name: String,
    /// Structure or union.
    pub kind: StructKind,
    /// Members in order, after the API filter.
    pub members: Vec<Member>,
    /// Structures that this structure may extend through `pNext`.
    pub extends: Vec<String>,
}

/// A member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// The C name.
    pub name: String,
    /// Type of the member.
    pub ty: CType,
    /// `values`: the enumerant an `sType` member must hold.
    pub values: Option<String>,
    /// `len` as written.
    pub len: Option<String>,
    /// `objecttype`: the sibling that gives the kind of a raw 64-bit handle.
    pub object_type: Option<String>,
}

/// An enumeration (including the ones that hold flag bits).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Name.
    pub name: String,
    /// Width in bits: 32, or 64 if the registry requires it.
    pub bits: u32,
    /// `true` if the enumerants are flag bits.
    pub bitmask: bool,
    /// Enumerants, sorted by name. Enumerants of disabled extensions are absent.
    pub enumerants: Vec<Enumerant>,
}

/// One enumerant with its computed value (GEN-69).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Enumerant {
    /// Name.
    pub name: String,
    /// Value; for an alias the value of its target.
    pub value: i128,
    /// Target, if the enumerant is an alias.
    pub alias: Option<String>,
}

/// A flags type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmask {
    /// Name, such as `VkInstanceCreateFlags`.
    pub name: String,
    /// 32 or 64, from the typedef text (GEN-41).
    pub bits: u32,
    /// The enumeration with the bits of this type, if there is one.
    pub bits_enum: Option<String>,
}

/// A base type with the C text that defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseType {
    /// Name.
    pub name: String,
    /// The C type that the name stands for (`uint32_t`, `void*`); `None` for a forward declaration, which is opaque.
    pub target: Option<String>,
}

/// A function-pointer type. The loader needs only the type's name, and the fact that it is a pointer (GEN-42).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPointer {
    /// Name, such as `PFN_vkAllocationFunction`.
    pub name: String,
    /// Parameters, name and type.
    pub params: Vec<(String, CType)>,
    /// Return type.
    pub return_type: CType,
}

/// An API constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Name.
    pub name: String,
    /// C type of the constant, such as `uint32_t`.
    pub ty: String,
    /// The C value text, such as `256U`.
    pub value: String,
}

/// A type that only a platform header defines (GEN-43).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformType {
    /// Name, such as `Display`.
    pub name: String,
    /// The header the registry names (`requires`), such as `X11/Xlib.h`.
    pub header: String,
}
