//! The hash behind the lookup of command names.
//!
//! One implementation serves the generator, which searches displacements that keep all names apart, and the loader,
//! which applies them (GEN-64). A name's hash picks a bucket; the bucket's displacement picks the position.

/// Binary logarithm of [`POSITIONS`].
const POSITION_BITS: u32 = 10;
/// How many positions a name can have.
pub const POSITIONS: usize = 1 << POSITION_BITS;
/// How many buckets, each with a displacement.
pub const BUCKETS: usize = 256;

/// An odd number without pattern: 2^64 divided by the golden ratio.
const SCATTER: u64 = 0x9E37_79B9_7F4A_7C15;

/// Bytes of a word. No command has a shorter name.
pub const WORD: usize = size_of::<u64>();

/// The hash of any byte string. It is taken of the first eight whole words and then of the last eight bytes, which may
/// overlap them.
#[inline(always)]
pub const fn hash(name: &[u8]) -> u64 {
    let (mut state, mut rest) = (0, name);
    // A loop would be unrolled by the compiler, with more instructions around it than in it.
    macro_rules! word {
        ($whole:lifetime) => {
            let Some((word, tail)) = rest.split_first_chunk::<WORD>() else {
                break $whole;
            };
            state = join(state, u64::from_le_bytes(*word));
            rest = tail;
        };
    }
    'whole: {
        word!('whole);
        word!('whole);
        word!('whole);
        word!('whole);
        word!('whole);
        word!('whole);
        word!('whole);
        word!('whole);
        let _ = rest;
    }
    join(state, last_word(name))
}

/// The last eight bytes. Behind a shorter string stand zeros.
const fn last_word(name: &[u8]) -> u64 {
    if let Some((_, word)) = name.split_last_chunk::<WORD>() {
        return u64::from_le_bytes(*word);
    }
    let mut word = 0;
    let mut rest = name;
    while let Some((byte, head)) = rest.split_last() {
        word = word << u8::BITS | *byte as u64;
        rest = head;
    }
    word
}

const fn join(state: u64, word: u64) -> u64 {
    (state ^ word).wrapping_mul(SCATTER).rotate_left(u8::BITS)
}

/// The bucket of a hash, below [`BUCKETS`].
#[inline(always)]
pub const fn bucket(hash: u64) -> usize {
    (hash % BUCKETS as u64) as usize
}

/// The position of a hash under its bucket's displacement, below [`POSITIONS`].
#[inline(always)]
pub const fn position(hash: u64, displacement: u8) -> usize {
    (hash.wrapping_mul(displacement as u64) >> (u64::BITS - POSITION_BITS)) as usize
}

/// Whether two byte strings of the same length are equal; `false` for those shorter than a word.
#[inline(always)]
pub fn same(one: &[u8], other: &[u8]) -> bool {
    let (Some((_, one_end)), Some((_, other_end))) = (one.split_last_chunk::<WORD>(), other.split_last_chunk::<WORD>())
    else {
        return false;
    };
    let (mut one_rest, mut other_rest) = (one, other);
    while let (Some((one_word, one_tail)), Some((other_word, other_tail))) = (
        one_rest.split_first_chunk::<WORD>(),
        other_rest.split_first_chunk::<WORD>(),
    ) {
        if u64::from_ne_bytes(*one_word) != u64::from_ne_bytes(*other_word) {
            return false;
        }
        (one_rest, other_rest) = (one_tail, other_tail);
    }
    u64::from_ne_bytes(*one_end) == u64::from_ne_bytes(*other_end)
}
