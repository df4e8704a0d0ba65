//! The hash behind the lookup of command names (GEN-64).
//!
//! A name's hash is its position in a list of heads; names with the same position are linked. So any list of names can be
//! looked up, and what is hashed, the length and a word at either end, keeps nearly all of them apart. The tests
//! hold the lengths of the chains for the names there are.

/// Binary logarithm of [`POSITIONS`].
const POSITION_BITS: u32 = 11;
/// How many positions a name can have.
pub(crate) const POSITIONS: usize = 1 << POSITION_BITS;

/// Bytes of a word.
pub(crate) const WORD: usize = size_of::<u64>();
/// Where the first of the two words starts that are hashed; the other one ends the name. All names share the first letter.
pub(crate) const FIRST: usize = 1;
/// Bytes that a name must have. No command has fewer.
pub(crate) const SHORTEST: usize = FIRST + WORD;

/// The position of a name of this length with these two words, below [`POSITIONS`].
#[inline(always)]
pub(crate) const fn position(length: usize, first: u64, last: u64) -> usize {
    // The middle bits of the product depend on all bits of both factors; folding brings them to both ends.
    let product = first.wrapping_add(length as u64) as u128 * last as u128;
    let folded = (product >> u64::BITS) as u64 ^ product as u64;
    (folded >> (u64::BITS - POSITION_BITS)) as usize
}

/// The position of a name, or `None` if it is too short.
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
