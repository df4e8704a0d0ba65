//! The words of the system's dynamic linker about libraries that it does not open.

/// The file is missing.
pub const MISSING: &str = if MUSL {
    "No such file or directory"
} else {
    "cannot open shared object file"
};

/// The file is too short for a library.
pub const TOO_SHORT: &str = if MUSL { "Exec format error" } else { "file too short" };

/// The library is for another word size.
pub const OTHER_CLASS: &str = if MUSL { "Exec format error" } else { "wrong ELF class" };

/// The C library of Alpine and others; the words above are else those of glibc.
const MUSL: bool = cfg!(target_env = "musl");
