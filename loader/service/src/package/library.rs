//! Checks the ELF header of a library (LSV-50).

use elf::{Fault, Header, SHARED};

/// Reads the header of a shared library.
///
/// # Errors
/// Returns the fault of the header.
pub fn library_header(bytes: &[u8]) -> Result<Header, &'static str> {
    let header = Header::read(bytes).map_err(Fault::text)?;
    if header.version != 1 {
        return Err("its ELF header has an unknown version");
    }
    if header.kind != SHARED {
        return Err("its ELF header is not that of a shared object");
    }
    Ok(header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_50_a_library_is_a_shared_object() {
        let header = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0\x3e\0";
        assert!(library_header(header).is_ok());
        for (at, byte) in [(0, 0), (4, 0), (5, 0), (5, 2), (6, 0), (16, 2), (17, 3)] {
            let mut other = *header;
            other[at] = byte;
            assert!(library_header(&other).is_err(), "{at}: {byte}");
        }
    }
}
