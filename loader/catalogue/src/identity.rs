//! Identities of files, which show that a file was replaced or changed.

use crate::written::is_hexadecimal;
use core::fmt;

/// Times up to this bound, in seconds since 1970, do not show changes: reproducible images set all times to 0 or 1.
const MEANINGLESS_SECONDS: i64 = 1;

/// Start value of the checksum.
const SEED: u64 = 0xCBF2_9CE4_8422_2325;
/// Odd factor that spreads the bits of each number.
const FACTOR: u64 = 0x9E37_79B9_7F4A_7C15;

/// Number of hexadecimal digits of each part of a written identity.
const DIGITS: usize = 16;

/// A file and its state. Replacing or changing the file changes the identity.
///
/// Programs can set the modification time, but only the kernel sets the change time. A hard link that is added or removed affects only the
/// change time. Therefore, the build ID decides about a file that differs only in the change time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Number of the file system. It does not affect the written forms if the kernel chose it at the mount.
    pub device: u64,
    /// Number of the file on its file system.
    pub inode: u64,
    /// Size in bytes.
    pub size: u64,
    /// Modification time (`st_mtime`), in seconds and nanoseconds since 1970.
    pub modified: (i64, i64),
    /// Change time (`st_ctime`), in seconds and nanoseconds since 1970.
    pub changed: (i64, i64),
}

impl Identity {
    /// Returns `true` if every change of the file changes the identity. Times of reproducible images do not show changes, because the next
    /// version of a file may have the same times.
    pub fn proves(&self) -> bool {
        self.changed.0 > MEANINGLESS_SECONDS
    }

    /// Returns `true` if both times are the same whole second, as in images whose files all have the time of their sources.
    pub fn has_one_time(&self) -> bool {
        self.changed == self.modified && self.changed.1 == 0
    }

    /// Returns `true` if `text` is a written form of this identity, in the short or the long form.
    pub fn is_written(&self, text: &[u8]) -> bool {
        let sum = text.get(..DIGITS).unwrap_or_default();
        is_hexadecimal(sum, &self.sum().to_be_bytes())
    }

    /// Returns `true` if `text` is the long form for the same file with the same size and the same modification time. The change time may
    /// differ, because a hard link that is added or removed changes it.
    pub fn is_same_file(&self, text: &[u8]) -> bool {
        let sum = text.get(DIGITS..2 * DIGITS).unwrap_or_default();
        is_hexadecimal(sum, &self.content_sum().to_be_bytes())
    }

    /// Returns a checksum of all members. A checksum suffices because identities are only compared for equality.
    fn sum(&self) -> u64 {
        add(self.content_sum(), self.changed)
    }

    /// Returns the number of the file system; 0 if the file system has no block device of its own. The kernel then chooses a number at each
    /// mount, so the files of a container get another one when the container starts again.
    fn file_system(&self) -> u64 {
        // The upper parts of a number in the form of the C library. They name the kind of device, and 0 means none.
        let kind = (self.device >> 8) & 0xFFF | (self.device >> 32) & 0xFFFF_F000;
        if kind == 0 { 0 } else { self.device }
    }

    /// Returns a checksum of the members that stay the same when a hard link is added or removed.
    fn content_sum(&self) -> u64 {
        let numbers = [self.file_system(), self.inode, self.size];
        add(numbers.into_iter().fold(SEED, mix), self.modified)
    }
}

/// Adds the seconds and nanoseconds of a time to a checksum.
fn add(sum: u64, (seconds, rest): (i64, i64)) -> u64 {
    mix(mix(sum, seconds as u64), rest as u64)
}

/// Adds a number to a checksum. The step is reversible, so a change of one number always changes the result.
fn mix(sum: u64, number: u64) -> u64 {
    let product = (sum ^ number).wrapping_mul(FACTOR);
    product ^ (product >> 32)
}

/// Written form of a file in an image, whose times prove nothing although [`Identity::proves`] returns `true`. The first checksum
/// is inverted, so the form never has the change time of the file. Readers therefore treat the file like one with a new hard link: the file's
/// build ID decides.
#[derive(Clone, Copy, Debug)]
pub struct OfImage(pub Identity);

impl fmt::Display for OfImage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sum, content) = (self.0.sum(), self.0.content_sum());
        write!(f, "{:016x}{content:016x}", !sum)
    }
}

/// Writes the checksum of the identity in 16 hexadecimal digits. The long form (`{:#}`) also has 16 digits that stay the same when
/// a hard link is added or removed. The long form is for files with a build ID, which then shows that the content is the same.
impl fmt::Display for Identity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.sum())?;
        if f.alternate() {
            write!(f, "{:016x}", self.content_sum())?;
        }
        Ok(())
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
            Identity { device: 0xfe02, ..FILE },
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
            // Exchanges the inode number and the size.
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
            &text[1..],
            &text.to_uppercase().replace(char::is_numeric, "g"),
        ] {
            assert!(!FILE.is_written(text.as_bytes()), "{text}");
        }
    }

    /// Kinds of devices have twelve bits, and twenty further ones above the first twenty bits of the number.
    #[test]
    fn the_number_of_a_mount_is_no_part_of_a_file() {
        let text = |device| format!("{:#}", Identity { device, ..FILE });
        assert_eq!(text(0x0010_0035), text(0x21));
        for device in [0x121, 0x700, 0x1000_0000_0000] {
            assert_ne!(text(device), text(0x21), "{device:x}");
        }
    }

    #[test]
    fn another_change_time_is_no_other_file() {
        let text = format!("{FILE:#}");
        let is = |file: Identity| (file.is_written(text.as_bytes()), file.is_same_file(text.as_bytes()));
        assert_eq!((text.len(), is(FILE)), (32, (true, true)));
        let changed = (1_700_000_009, 0);
        let linked = Identity { changed, ..FILE };
        assert_eq!(is(linked), (false, true));
        for other in [
            Identity { size: 1, ..linked },
            Identity { inode: 8, ..linked },
            Identity { device: 1, ..linked },
            Identity {
                modified: changed,
                ..linked
            },
        ] {
            assert_eq!(is(other), (false, false), "{other:?}");
        }
        // A file without a build ID has the short form.
        let short = format!("{FILE}");
        for text in ["", &short, &text[..31]] {
            assert!(!linked.is_same_file(text.as_bytes()), "{text}");
        }
    }

    #[test]
    fn a_file_in_an_image_is_known_by_its_build_id() {
        let text = format!("{}", OfImage(FILE));
        let is = |file: Identity| (file.is_written(text.as_bytes()), file.is_same_file(text.as_bytes()));
        assert_eq!(is(FILE), (false, true));
        assert_eq!(is(Identity { inode: 8, ..FILE }), (false, false));
        let built = (1_700_000_000, 0);
        let times = |modified, changed| Identity {
            modified,
            changed,
            ..FILE
        };
        assert!(times(built, built).has_one_time());
        assert!(!times(FILE.changed, FILE.changed).has_one_time() && !times(built, FILE.changed).has_one_time());
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
        // OSTree sets only the modification time.
        assert!(
            Identity {
                modified: (0, 0),
                ..FILE
            }
            .proves()
        );
    }
}
