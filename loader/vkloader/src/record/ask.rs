//! Asks a driver the same question in several ways, and compares the answers.

use super::ways::Way;
use record::Builder;

/// The patterns with which memory is filled before the driver writes to it. If a byte has the value of each pattern in turn, the driver did
/// not write the byte.
const PATTERNS: [u8; 2] = [0x00, 0xFF];

/// Size of `sType` and `pNext` in bytes.
pub(super) const HEAD: usize = 16;

/// Memory for a structure, aligned for any member.
pub(super) struct StructureMemory {
    words: Vec<u64>,
    size: usize,
}

impl StructureMemory {
    /// Returns memory of `size` bytes, filled with a pattern. The memory has additional space, because a newer driver may write a larger
    /// structure.
    pub(super) fn filled(size: usize, pattern: u8) -> Self {
        Self {
            words: vec![u64::from_ne_bytes([pattern; 8]); size.div_ceil(8) + 64],
            size,
        }
    }

    /// Returns the address of the memory's first byte.
    pub(super) fn start(&mut self) -> *mut u8 {
        self.words.as_mut_ptr().cast()
    }

    /// Writes `sType` and `pNext` at an offset.
    pub(super) fn begin(&mut self, at: usize, kind: u32, next: *mut u8) {
        self.words[at / 8] = kind.into();
        self.words[at / 8 + 1] = next.addr() as u64;
    }

    /// Returns `size` bytes that start at an offset.
    pub(super) fn bytes(&self, at: usize, size: usize) -> Vec<u8> {
        let end = self.size.min(at + size);
        let words = &self.words[at / 8..end.div_ceil(8)];
        let mut bytes = Vec::with_capacity(words.len() * 8);
        for word in words {
            bytes.extend_from_slice(&word.to_ne_bytes());
        }
        bytes.truncate(end - at / 8 * 8);
        bytes.split_off(at % 8)
    }
}

/// The bytes of a structure, and a flag for each byte, which is `true` if the driver wrote the byte.
type Written = (Vec<u8>, Vec<bool>);

/// Asks for a structure in all `ways`, which are instances with different versions and extensions. `gaps` lists the padding of the
/// structure. `ask` calls the driver with memory that a pattern fills, and returns the structure, or `None` if an instance lacks the
/// command. Returns the value for a record if there was an answer and all answers are equal.
pub(super) fn in_all_ways(
    ways: &[Way],
    gaps: &[(u16, u16)],
    mut ask: impl FnMut(&Way, u8) -> Option<Vec<u8>>,
) -> Option<Vec<u8>> {
    let mut ask = |way: &Way, pattern: u8| {
        let mut bytes = ask(way, pattern)?;
        for (start, length) in gaps {
            let (start, length) = (usize::from(*start), usize::from(*length));
            bytes.get_mut(start..start + length)?.fill(pattern);
        }
        Some(bytes)
    };
    let mut known: Option<Written> = None;
    for way in ways {
        let [Some(zeros), Some(ones)] = PATTERNS.map(|pattern| ask(way, pattern)) else {
            continue;
        };
        let answer = compared(&zeros, &ones)?;
        match &known {
            Some(known) if *known != answer => return None,
            _ => known = Some(answer),
        }
    }
    let (bytes, written) = known?;
    Some(Builder::structure(&bytes, &written))
}

/// Returns the bytes that do not depend on the previous content of the memory. Returns `None` if the answers differ in other bytes.
fn compared(zeros: &[u8], ones: &[u8]) -> Option<Written> {
    let mut bytes = zeros.to_vec();
    let mut written = vec![true; bytes.len()];
    for (at, (zero, one)) in zeros.iter().zip(ones).enumerate() {
        if zero == one {
            continue;
        }
        if [*zero, *one] != PATTERNS {
            return None;
        }
        bytes[at] = 0;
        written[at] = false;
    }
    (zeros.len() == ones.len()).then_some((bytes, written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn drv_281_bytes_that_keep_the_pattern_were_not_written() {
        let written = |zeros: &[u8], ones: &[u8]| compared(zeros, ones);
        assert_eq!(
            written(&[7, 0, 0, 0xFF], &[7, 0xFF, 0, 0xFF]),
            Some((vec![7, 0, 0, 0xFF], vec![true, false, true, true]))
        );
        assert_eq!(written(&[7], &[8]), None, "another answer");
        assert_eq!(written(&[0], &[1]), None, "another answer");
    }
}
