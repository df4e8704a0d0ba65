//! The hash behind the lookup of command names.
//!
//! One implementation serves the generator, which searches displacements that keep all names apart, and the loader,
//! which applies them (GEN-64). A name's hash picks a bucket; the bucket's displacement picks the position.

/// Binary logarithm of [`POSITIONS`].
const POSITION_BITS: u32 = 11;
/// How many positions a name can have.
pub const POSITIONS: usize = 1 << POSITION_BITS;
/// How many buckets, each with a displacement.
pub const BUCKETS: usize = 256;

/// An odd number without pattern: 2^64 divided by the golden ratio.
const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;

/// The hash of any byte string.
pub const fn hash(name: &[u8]) -> u64 {
    let mut state = name.len() as u64;
    let mut rest = name;
    while let Some((word, tail)) = rest.split_first_chunk::<8>() {
        state = mix(state ^ u64::from_le_bytes(*word));
        rest = tail;
    }
    // What is left over is read as the last eight bytes of the name, where it has as many.
    if let Some((_, word)) = name.split_last_chunk::<8>() {
        return mix(state ^ u64::from_le_bytes(*word));
    }
    while let Some((byte, tail)) = rest.split_first() {
        state = mix(state ^ *byte as u64);
        rest = tail;
    }
    state
}

/// The bucket of a hash, below [`BUCKETS`].
pub const fn bucket(hash: u64) -> usize {
    (hash % BUCKETS as u64) as usize
}

/// The position of a hash under its bucket's displacement, below [`POSITIONS`].
pub const fn position(hash: u64, displacement: u8) -> usize {
    (mix(hash.wrapping_add(displacement as u64)).wrapping_mul(SCATTER) >> (u64::BITS - POSITION_BITS)) as usize
}

const fn mix(value: u64) -> u64 {
    let product = value.wrapping_mul(SCATTER);
    product ^ product >> 32
}
