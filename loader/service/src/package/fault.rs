//! The reasons why a package is invalid.

use elf::Class;
use std::fmt;

/// A fault of a package. The text of the fault is for administrators, and names the file and the broken rule.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Fault {
    /// The name is not valid for a package (LSV-28). The field is the name.
    Name(String),
    /// No folder with packages has a package of this name.
    Absent,
    /// There are too many packages (LSV-50). The field is the limit.
    TooMany(usize),
    /// A file or folder cannot be opened or read, or the file is not JSON that the service accepts (LSV-51).
    Io {
        /// Path of the file, relative to the package.
        file: String,
        /// The message of the system, or that of the parser with the position in the text.
        error: String,
    },
    /// The path contains a symbolic link (LSV-49).
    Link(String),
    /// The file at a path has the wrong kind: it is, for example, a folder, a device or a pipe.
    Kind {
        /// Path of the file, relative to the package.
        file: String,
        /// The expected kind.
        wanted: &'static str,
    },
    /// A user other than root may change the file (LSV-49).
    Writable {
        /// Path of the file or folder, relative to the package; `..` is the folder that contains all packages.
        file: String,
        /// User who owns the file.
        owner: u32,
        /// Permission bits of the file.
        mode: u32,
    },
    /// The file is larger than allowed (LSV-50).
    TooLarge {
        /// Path of the file, relative to the package.
        file: String,
        /// Size of the file in bytes.
        size: u64,
        /// The limit in bytes.
        most: u64,
    },
    /// The total size of all memory files would exceed the limit (LSV-50).
    NoRoom {
        /// The size in bytes of the library.
        size: u64,
        /// The number of bytes that the limit still allows.
        left: u64,
    },
    /// The system allows no executable memory files, and the original file cannot be handed out.
    NoExecutableMemory,
    /// The file changed while the service read it, so the bytes are unreliable.
    Changed(String),
    /// A member is missing or has the wrong type (LSV-15, LSV-16).
    Member {
        /// Path of the file, relative to the package.
        file: String,
        /// Name of the member.
        key: &'static str,
        /// The expected value.
        wanted: &'static str,
    },
    /// The manifest is for a variant of the API, such as Vulkan SC.
    Variant(String),
    /// The last component of `library_path` is not a valid key (LSV-55).
    Key(String),
    /// The file is not a library (LSV-50).
    Elf {
        /// Path of the file, relative to the package.
        file: String,
        /// Fault of the file's ELF header.
        wrong: &'static str,
    },
    /// The library is for programs of another word size than the package's name says (LSV-28).
    Class {
        /// Path of the file, relative to the package.
        file: String,
        /// Word size of the library.
        class: Class,
    },
}

impl Fault {
    /// Creates the fault for a file or folder that cannot be opened or read.
    pub fn io(file: impl Into<String>, error: impl fmt::Display) -> Self {
        Self::Io {
            file: file.into(),
            error: error.to_string(),
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Name(name) => write!(formatter, "{name:?} is no name of a package"),
            Self::Absent => formatter.write_str("there is no such package"),
            Self::TooMany(most) => write!(formatter, "there are {most} packages already"),
            Self::Io { file, error } => write!(formatter, "{file}: {error}"),
            Self::Link(file) => write!(
                formatter,
                "{file} breaks a rule of paths: it is a symbolic link, and none may be in a package"
            ),
            Self::Kind { file, wanted } => {
                write!(formatter, "{file} breaks a rule of paths: it is no {wanted}")
            }
            Self::Writable { file, owner, mode } => write!(
                formatter,
                "{file} can be changed by others than root: owner {owner}, mode {mode:04o}"
            ),
            Self::TooLarge { file, size, most } => write!(formatter, "{file} has {size} bytes, more than {most}"),
            Self::NoRoom { size, left } => write!(
                formatter,
                "the library has {size} bytes, and {left} are left for memory files"
            ),
            Self::NoExecutableMemory => formatter.write_str(
                "the system forbids memory files that can be executed (vm.memfd_noexec), and others than root could change the library",
            ),
            Self::Changed(file) => write!(formatter, "{file} changed while it was read"),
            Self::Member { file, key, wanted } => write!(formatter, "{file}: {key} must be {wanted}"),
            Self::Variant(version) => write!(formatter, "the manifest's api_version {version} is not one of Vulkan"),
            Self::Key(path) => write!(
                formatter,
                "the manifest's library_path {path:?} does not end in the name of a file"
            ),
            Self::Elf { file, wrong } => write!(formatter, "{file} is no shared library: {wrong}"),
            Self::Class { file, class } => write!(
                formatter,
                "{file} is for {}-bit programs, and the package is not: names that end in -32, and no others, are for 32-bit programs",
                class.bits()
            ),
        }
    }
}

impl std::error::Error for Fault {}
