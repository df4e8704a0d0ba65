//! Messages of the protocol `fuchsia.vulkan.loader.Loader` as bytes (LSV-2).
//!
//! A message begins with a header. The header has four bytes for the number of the call, which the kernel writes, then flags, the magic
//! number of the format, and eight bytes for the method. Numbers are little-endian, and everything is padded with zeros to eight bytes. A
//! handle is four bytes that say whether a handle comes with the message. A text is a length and a mark for its presence, each padded to
//! eight bytes; the bytes of the text come after everything else.

/// Upper bound on the name's length that the service allows, in bytes (LSV-2).
pub(super) const LONGEST_NAME: usize = 64;

/// Length of the longest message of this client, in bytes: a header, the length and the mark of a text, and the longest name.
pub(super) const LONGEST: usize = HEADER + 16 + LONGEST_NAME;

const HEADER: usize = 16;
/// Flag of messages in the second version of the format.
const FORMAT: u8 = 2;
const MAGIC: u8 = 1;
const PRESENT: u32 = u32::MAX;
const ABSENT: u32 = 0;

/// Requests to the service. The numbers of the requests are the first eight bytes of the SHA-256 digest of the method's full name
/// (`fuchsia.vulkan.loader/Loader.Get`) without the highest bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u64)]
pub(super) enum Method {
    /// Requests a memory object that contains a library.
    Get = 0x73DB_BFB6_2E99_320A,
    /// Requests a folder of manifests.
    ConnectToManifestFs = 0x0454_D855_8778_81CC,
    /// Requests a folder of devices.
    ConnectToDeviceFs = 0x11CD_633F_2F5F_F6D7,
    /// Requests the list of supported methods.
    GetSupportedFeatures = 0x381A_BFCE_1728_92BD,
}

/// Bit of [`features`] that the service sets if it can supply a folder of devices (LSV-2).
pub(super) const CAN_CONNECT_TO_DEVICES: u64 = 2;
/// Bit of [`features`] that the service sets if it can supply a folder of manifests. The client ignores all
/// bits except this one and [`CAN_CONNECT_TO_DEVICES`].
pub(super) const CAN_CONNECT_TO_MANIFESTS: u64 = 4;

/// Flag with which the service provides the folder of manifests only after all drivers are available.
const WAIT_FOR_IDLE: u32 = 1;

/// Error for a message that is not an answer to the request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// A message that is being written.
pub(super) struct Message {
    room: [u8; LONGEST],
    length: usize,
}

impl Message {
    fn of(method: Method) -> Self {
        let mut message = Self {
            room: [0; LONGEST],
            length: HEADER,
        };
        message.room[4] = FORMAT;
        message.room[7] = MAGIC;
        message.room[8..HEADER].copy_from_slice(&(method as u64).to_le_bytes());
        message
    }

    fn add(&mut self, bytes: &[u8]) {
        self.room[self.length..self.length + bytes.len()].copy_from_slice(bytes);
        self.length += bytes.len();
    }

    /// Rounds the length up to a multiple of eight bytes; the rest of the buffer is already zero.
    fn padded(mut self) -> Self {
        self.length = self.length.next_multiple_of(8);
        self
    }

    /// Returns the bytes of the message.
    pub(super) fn bytes(&self) -> &[u8] {
        &self.room[..self.length]
    }
}

/// Returns a request for the library called `name`; `None` if the name is longer than the service allows.
pub(super) fn get(name: &[u8]) -> Option<Message> {
    if name.len() > LONGEST_NAME {
        return None;
    }
    let mut message = Message::of(Method::Get);
    message.add(&(name.len() as u64).to_le_bytes());
    message.add(&u64::MAX.to_le_bytes());
    message.add(name);
    Some(message.padded())
}

/// Returns a request for the folder of manifests, on the channel whose handle comes with the message. The service answers after all drivers
/// are available.
pub(super) fn connect_to_manifests() -> Message {
    let mut message = Message::of(Method::ConnectToManifestFs);
    message.add(&WAIT_FOR_IDLE.to_le_bytes());
    message.add(&PRESENT.to_le_bytes());
    message.padded()
}

/// Returns a request for the folder of devices on the channel whose handle comes with the message.
pub(super) fn connect_to_devices() -> Message {
    let mut message = Message::of(Method::ConnectToDeviceFs);
    message.add(&PRESENT.to_le_bytes());
    message.padded()
}

/// Returns a request for the list of supported methods.
pub(super) fn supported_features() -> Message {
    Message::of(Method::GetSupportedFeatures)
}

/// Returns `true` if the answer to [`get`] has a library. `handles` is the number of handles that came with the answer; only the library's
/// handle is allowed.
///
/// # Errors
/// The message is not an answer to [`get`].
pub(super) fn library(answer: &[u8], handles: usize) -> Result<bool, Malformed> {
    match (word(answer, Method::Get)?, handles) {
        // The handle's word has four bytes for the handle and four bytes of padding.
        (word, 1) if word == u64::from(PRESENT) => Ok(true),
        (word, 0) if word == u64::from(ABSENT) => Ok(false),
        _ => Err(Malformed),
    }
}

/// Returns the bits of the answer to [`supported_features`].
///
/// # Errors
/// The message is not an answer to [`supported_features`].
pub(super) fn features(answer: &[u8], handles: usize) -> Result<u64, Malformed> {
    if handles > 0 {
        return Err(Malformed);
    }
    word(answer, Method::GetSupportedFeatures)
}

/// Returns the eight bytes after the header of an answer.
fn word(answer: &[u8], method: Method) -> Result<u64, Malformed> {
    let (header, body) = answer.split_first_chunk::<HEADER>().ok_or(Malformed)?;
    let [_, _, _, _, format, _, _, magic, number @ ..] = *header;
    if format & FORMAT == 0 || magic != MAGIC || u64::from_le_bytes(number) != method as u64 {
        return Err(Malformed);
    }
    body.try_into().map(u64::from_le_bytes).map_err(|_| Malformed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec::Vec;

    const GET: [u8; 16] = [0, 0, 0, 0, 2, 0, 0, 1, 0x0A, 0x32, 0x99, 0x2E, 0xB6, 0xBF, 0xDB, 0x73];

    fn answer(method: Method, body: &[u8]) -> Vec<u8> {
        let header = Message::of(method);
        [&[7, 0, 0, 0], &header.bytes()[4..], body].concat()
    }

    #[test]
    fn lsv_2_a_library_is_asked_for_by_name() {
        let message = get(b"0-libvk.so").unwrap();
        let expected = [&GET[..], &[10, 0, 0, 0, 0, 0, 0, 0], &[0xFF; 8], b"0-libvk.so", &[0; 6]];
        assert_eq!(message.bytes(), expected.concat());
        let empty = get(b"").unwrap();
        assert_eq!(empty.bytes().len(), 32);
        assert_eq!(get(&[b'x'; 64]).unwrap().bytes().len(), LONGEST);
        assert!(get(&[b'x'; 65]).is_none(), "a name of 65 bytes is not sent");
    }

    #[test]
    fn lsv_2_folders_come_on_a_channel() {
        let message = connect_to_manifests();
        assert_eq!(message.bytes()[16..], [1, 0, 0, 0, 0xFF, 0xFF, 0xFF, 0xFF]);
        let message = connect_to_devices();
        assert_eq!(message.bytes()[16..], [0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
        assert_eq!(supported_features().bytes().len(), 16);
    }

    #[test]
    fn lsv_3_an_answer_has_a_library_or_none() {
        let present = answer(Method::Get, &[0xFF, 0xFF, 0xFF, 0xFF, 0, 0, 0, 0]);
        let absent = answer(Method::Get, &[0; 8]);
        assert_eq!(library(&present, 1), Ok(true));
        assert_eq!(library(&absent, 0), Ok(false));
        for (bytes, handles) in [(&present, 0), (&present, 2), (&absent, 1)] {
            assert_eq!(library(bytes, handles), Err(Malformed), "{handles} handles");
        }
        let odd = answer(Method::Get, &[0xFF, 0xFF, 0xFF, 0xFF, 1, 0, 0, 0]);
        assert_eq!(library(&odd, 1), Err(Malformed));
    }

    #[test]
    fn lsv_2_unknown_features_are_tolerated() {
        let bits = 0x8000_0000_0000_0001_u64 | CAN_CONNECT_TO_MANIFESTS;
        let told = answer(Method::GetSupportedFeatures, &bits.to_le_bytes());
        assert_eq!(features(&told, 0), Ok(bits));
        assert_eq!(features(&told, 1), Err(Malformed));
    }

    #[test]
    fn what_is_no_answer_is_malformed() {
        let good = answer(Method::Get, &[0; 8]);
        for length in 0..good.len() {
            assert_eq!(library(&good[..length], 0), Err(Malformed), "{length} bytes");
        }
        assert_eq!(library(&[&good[..], &[0; 8]].concat(), 0), Err(Malformed));
        // A change of one of these bytes makes the format, the magic number or the method wrong.
        for place in [4, 7, 8, 15] {
            let mut changed = good.clone();
            changed[place] ^= 0xFF;
            assert_eq!(library(&changed, 0), Err(Malformed), "byte {place}");
        }
        let other = answer(Method::GetSupportedFeatures, &[0; 8]);
        assert_eq!(library(&other, 0), Err(Malformed));
    }
}
