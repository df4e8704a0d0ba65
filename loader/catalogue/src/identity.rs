//! Identities of files, which show that a file was replaced or changed.

use crate::written::is_hexadecimal;
use core::fmt;

/// Times up to this bound, in seconds since 1970, do not show changes: reproducible images set all times to 0 or 1.
const MEANINGLESS_SECONDS: i64 = 1;

/// Start value of the checksum.
const SEED: u64 = 0xCBF2_9CE4_8422_2325;
/// Odd factor that spreads the bits of each number.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// A file and its state. Replacing or changing the file changes the identity.
///
/// Programs can set the time of the last change of content; only the kernel sets the time of the last change of any kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Number of the file system.
    pub device: u64,
    /// Number of the file on its file system.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Time of the last change of content, in seconds and nanoseconds since 1970.
    pub modified: (i64, i64),
    /// Time of the last change of any kind.
    pub changed: (i64, i64),
}

impl Identity {
    /// Returns `true` if every change of the file changes the identity. Times of reproducible images do not show changes, because the next
    /// version of a file may have the same times.
    pub fn proves(&self) -> bool {
        self.changed.0 > MEANINGLESS_SECONDS
    }

    /// Returns `true` if `text` is the written form of this identity.
    pub fn is_written(&self, text: &[u8]) -> bool {
        is_hexadecimal(text, &self.sum().to_be_bytes())
    }

    /// Returns a checksum of all members. A checksum suffices because identities are only compared for equality.
    fn sum(&self) -> u64 {
        let [modified, changed] = [self.modified, self.changed].map(|(seconds, rest)| [seconds as u64, rest as u64]);
        let numbers = [self.device, self.inode, self.size].into_iter();
        // Each step is reversible, so a change of one number always changes the result.
        numbers.chain(modified).chain(changed).fold(SEED, |sum, number| {
            let product = (sum ^ number).wrapping_mul(FACTOR);
            product ^ (product >> 32)
        })
    }
}

/// Writes sixteen hexadecimal digits.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.sum())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: Identity = Identity {
        device: 0xfe01,
        inode: 7,
        size: 4096,
        modified: (1_700_000_000, 5),
        changed: (1_700_000_001, 999_999_999),
    };

    #[test]
    fn each_part_counts() {
        let text = format!("{FILE}");
        assert_eq!(text.len(), 16);
        assert!(FILE.is_written(text.as_bytes()));
        let others = [
            Identity { device: 1, ..FILE },
            Identity { inode: 8, ..FILE },
            Identity { size: 1, ..FILE },
            Identity {
                modified: (1_700_000_000, 6),
                ..FILE
            },
            Identity {
                changed: (1_700_000_002, 0),
                ..FILE
            },
            // The inode number and the size are exchanged.
            Identity {
                inode: FILE.size,
                size: FILE.inode,
                ..FILE
            },
            Identity {
                modified: FILE.changed,
                changed: FILE.modified,
                ..FILE
            },
        ];
        for other in others {
            assert!(!other.is_written(text.as_bytes()), "{other}");
        }
        for text in [
            "",
            "fe01",
            &format!("{text}0"),
            &text[1..],
            &text.to_uppercase().replace(char::is_numeric, "g"),
        ] {
            assert!(!FILE.is_written(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn identities_are_the_same_in_each_build() {
        assert_eq!(format!("{FILE}"), "28bf610e3944a384");
    }

    #[test]
    fn times_of_an_image_prove_nothing() {
        assert!(FILE.proves());
        for changed in [(0, 0), (1, 0), (-1, 0)] {
            assert!(!Identity { changed, ..FILE }.proves(), "{changed:?}");
        }
        // OSTree sets only the time of the last change of content.
        assert!(
            Identity {
                modified: (0, 0),
                ..FILE
            }
            .proves()
        );
    }
}
