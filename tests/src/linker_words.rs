//! Error texts of the system's dynamic linker for libraries that it cannot open.

/// Error text for a missing file.
pub const MISSING: &str = if MUSL {
    "No such file or directory"
} else {
    "cannot open shared object file"
};

/// Error text for a file that is too short for a library.
pub const TOO_SHORT: &str = if MUSL { "Exec format error" } else { "file too short" };

/// Error text for a library whose word size differs from the process's.
pub const OTHER_CLASS: &str = if MUSL { "Exec format error" } else { "wrong ELF class" };

/// `true` if the C library is musl, for example on Alpine. Otherwise, the error texts come from glibc.
const MUSL: bool = cfg!(target_env = "musl");
