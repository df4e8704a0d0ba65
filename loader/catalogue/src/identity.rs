//! Which file it is.

use crate::written::is_written;
use core::fmt;

/// Seconds since 1970 up to which the time of a change says nothing: images made reproducibly have all times at 0 or 1.
const MEANINGLESS_SECONDS: i64 = 1;

/// A file and its state: another file, or a change of this one, gives another identity.
///
/// The time of the last change of content can be set by programs, that of any change only by the kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// The number of the file system.
    pub device: u64,
    /// The number of the file on it.
    pub inode: u64,
    /// Bytes.
    pub size: u64,
    /// When the content changed last, in seconds and nanoseconds since 1970.
    pub modified: (i64, i64),
    /// When anything about the file changed last.
    pub changed: (i64, i64),
}

impl Identity {
    /// Whether a change must show: not where the times are those of an image, whose next edition may have the same.
    pub fn proves(&self) -> bool {
        self.changed.0 > MEANINGLESS_SECONDS
    }

    /// Whether a catalogue has this identity under its written form.
    pub fn is_written(&self, text: &[u8]) -> bool {
        is_written(text, format_args!("{self}"))
    }
}

/// As a catalogue has it: device, inode, size and both times, the longer numbers in one text that is only compared.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            device,
            inode,
            size,
            modified,
            changed,
        } = self;
        write!(
            f,
            "{device:x}:{inode}:{size}:{}.{:09}:{}.{:09}",
            modified.0, modified.1, changed.0, changed.1
        )
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
        assert_eq!(text, "fe01:7:4096:1700000000.000000005:1700000001.999999999");
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
        ];
        for other in others {
            assert!(!other.is_written(text.as_bytes()), "{other}");
        }
        for text in ["", "fe01", &format!("{text}0"), &text[1..]] {
            assert!(!FILE.is_written(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn times_of_an_image_prove_nothing() {
        assert!(FILE.proves());
        for changed in [(0, 0), (1, 0), (-1, 0)] {
            assert!(!Identity { changed, ..FILE }.proves(), "{changed:?}");
        }
        // The time of the content alone is what OSTree sets.
        assert!(
            Identity {
                modified: (0, 0),
                ..FILE
            }
            .proves()
        );
    }
}
