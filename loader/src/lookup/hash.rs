//! The hash for the lookup of command names (GEN-64).
//!
//! The hash of a name is the index of a bucket. The names in a bucket are linked, so any list of names works. The hash uses the length and
//! one word at each end of the name, which keeps nearly all names apart. The tests check the lengths of the chains for the current names.

/// Binary logarithm of [`POSITIONS`].
const POSITION_BITS: u32 = 11;
/// Number of buckets.
pub(crate) const POSITIONS: usize = 1 << POSITION_BITS;

/// Number of bytes in a word.
pub(crate) const WORD: usize = size_of::<u64>();
/// Offset of the first of the two hashed words, after the letter that all names share; the other word ends the name.
pub(crate) const FIRST: usize = 1;
/// Lower bound on the length of a name; no command has a shorter name.
pub(crate) const SHORTEST: usize = FIRST + WORD;

/// Returns the index of the bucket, below [`POSITIONS`], for a name with `length` bytes whose hashed words are `first` and `last`.
#[inline(always)]
pub(crate) const fn position(length: usize, first: u64, last: u64) -> usize {
    // The middle bits of the product depend on all bits of both factors; folding brings these bits to both ends of the result.
    let product = first.wrapping_add(length as u64) as u128 * last as u128;
    let folded = (product >> u64::BITS) as u64 ^ product as u64;
    (folded >> (u64::BITS - POSITION_BITS)) as usize
}

/// Returns the index of the bucket for a name, or `None` if the name is too short.
pub(crate) const fn position_of(name: &[u8]) -> Option<usize> {
    if name.len() < SHORTEST {
        return None;
    }
    let (_, from_first) = name.split_at(FIRST);
    match (from_first.first_chunk::<WORD>(), name.last_chunk::<WORD>()) {
        (Some(first), Some(last)) => Some(position(
            name.len(),
            u64::from_le_bytes(*first),
            u64::from_le_bytes(*last),
        )),
        _ => None,
    }
}
