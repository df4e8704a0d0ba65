//! Types of parameters and members.

/// C type of a parameter, member or return value, in its parts (GEN-12).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct CType {
    /// Name of the type without pointers and arrays, for example `VkInstance` or `uint32_t`.
    pub base: String,
    /// Pointers from the innermost to the outermost. Each `*` has an entry, which is `true` if the pointer's target is
    /// const.
    ///
    /// `const uint32_t* const*` is `[true, true]`; `VkInstance*` is `[false]`.
    pub pointers: Vec<bool>,
    /// Array bounds in order. Each is a number, or the name of a constant.
    pub array: Vec<String>,
    /// Bit-field width of a member, such as 24 in `uint32_t mask:24`.
    pub bits: Option<u32>,
    /// `true` if the declaration has the word `struct` before the name of the type.
    pub is_struct_tag: bool,
    /// `true` if a plain value or an array element is const, for example in `const float[4]`.
    pub is_const: bool,
}

/// Handle type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Handle {
    /// Name in the registry.
    pub name: String,
    /// `true` if the handle is declared with `VK_DEFINE_HANDLE`.
    pub dispatchable: bool,
    /// Parent handles in the text of the XML, separated by commas.
    pub parent: Option<String>,
    /// Value of the attribute `objtypeenum`, which is the name of the `VkObjectType` enumerant.
    pub object_type: String,
}

/// Kind of an aggregate: structure or union.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum StructKind {
    /// Type declared with `struct`.
    Struct,
    /// Type declared with `union`.
    Union,
}

/// Structure or union with its members.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Struct {
    /// Name in the registry.
    pub name: String,
    /// Kind of an aggregate: structure or union.
    pub kind: StructKind,
    /// Members in order, after the API filter.
    pub members: Vec<Member>,
    /// Structures that this structure may extend through `pNext`.
    pub extends: Vec<String>,
}

/// Member of a structure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Member {
    /// C name.
    pub name: String,
    /// Type of the member.
    pub ty: CType,
    /// Value of the attribute `values`: the enumerant that an `sType` member must have.
    pub values: Option<String>,
    /// Text of the attribute `len`.
    pub len: Option<String>,
    /// Value of the attribute `objecttype`: the name of the sibling that contains the type of a raw 64-bit handle.
    pub object_type: Option<String>,
}

/// Enumeration, with flag bits or other values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Enum {
    /// Name in the registry.
    pub name: String,
    /// Width in bits: 64 if the registry requires it, and otherwise 32.
    pub bits: u32,
    /// `true` if the enumerants are flag bits.
    pub bitmask: bool,
    /// Enumerants, sorted by name. Enumerants of disabled extensions are not included.
    pub enumerants: Vec<Enumerant>,
}

/// Enumerant with its computed value (GEN-69).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Enumerant {
    /// Name in the registry.
    pub name: String,
    /// Value of the enumerant, or of its target if it is an alias.
    pub value: i128,
    /// Target if the enumerant is an alias.
    pub alias: Option<String>,
}

/// Flags type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bitmask {
    /// Name of the type, for example `VkInstanceCreateFlags`.
    pub name: String,
    /// Width in bits, 32 or 64, from the text of the typedef (GEN-41).
    pub bits: u32,
    /// Enumeration with the bits of this type, or `None` if no bits are defined.
    pub bits_enum: Option<String>,
}

/// Base type with the C text that defines it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BaseType {
    /// Name in the registry.
    pub name: String,
    /// C type that the name denotes, for example `uint32_t` or `void*`. `None` for a forward declaration, whose type is
    /// opaque.
    pub target: Option<String>,
}

/// Function-pointer type. The loader needs only the name of the type, because every function pointer has the same size
/// (GEN-42).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionPointer {
    /// Name of the type, for example `PFN_vkAllocationFunction`.
    pub name: String,
    /// Name and type of each parameter.
    pub params: Vec<(String, CType)>,
    /// Return type of the function.
    pub return_type: CType,
}

/// API constant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Constant {
    /// Name in the registry.
    pub name: String,
    /// C type of the constant, for example `uint32_t`.
    pub ty: String,
    /// C text of the value, for example `256U`.
    pub value: String,
}

/// Type that only a platform header defines (GEN-43).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PlatformType {
    /// Name of the type, for example `Display`.
    pub name: String,
    /// Header that the registry names in `requires`, for example `X11/Xlib.h`.
    pub header: String,
}
