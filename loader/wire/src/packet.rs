//! One packet: a header of 16 bytes, little-endian, and the payload (LSV-34).

use crate::Operation;

/// First bytes of each packet.
pub const MAGIC: [u8; 4] = *b"VKLS";
/// Version of the protocol.
pub const VERSION: u16 = 2;
/// Size of the header in bytes.
pub const HEADER_BYTES: usize = 16;
/// Bit that marks the operation of a reply.
const REPLY: u16 = 1 << 15;

/// Header of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Header {
    /// Number of the operation, without the bit that marks a reply. The number may be unknown to [`Operation`].
    pub operation: u16,
    /// `true` for a packet of the service.
    pub is_reply: bool,
    /// Number that the client chose; the reply repeats it.
    pub request: u32,
}

impl Header {
    /// Returns the header of a request.
    pub fn request(operation: Operation, request: u32) -> Self {
        Self {
            operation: operation as u16,
            is_reply: false,
            request,
        }
    }

    /// Returns the header of the reply to a request.
    pub fn reply(self) -> Self {
        Self { is_reply: true, ..self }
    }

    /// Returns the bytes of the header for a payload of `length` bytes.
    pub fn bytes(self, length: u32) -> [u8; HEADER_BYTES] {
        let operation = self.operation | if self.is_reply { REPLY } else { 0 };
        let mut bytes = [0; HEADER_BYTES];
        bytes[..4].copy_from_slice(&MAGIC);
        bytes[4..6].copy_from_slice(&VERSION.to_le_bytes());
        bytes[6..8].copy_from_slice(&operation.to_le_bytes());
        bytes[8..12].copy_from_slice(&self.request.to_le_bytes());
        bytes[12..].copy_from_slice(&length.to_le_bytes());
        bytes
    }
}

/// A received packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Packet<'a> {
    /// Header of the packet.
    pub header: Header,
    /// Payload, which has not been checked in any way.
    pub payload: &'a [u8],
}

/// Reasons why received bytes are not a valid packet. The receiver closes the connection after invalid bytes (LSV-35).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PacketError {
    /// The packet is shorter than a header.
    Short,
    /// The first bytes are not [`MAGIC`].
    Magic,
    /// The protocol version of the packet is not [`VERSION`]. The header is decoded like a header of [`VERSION`].
    Version(u16, Header),
    /// The length in the header differs from that of the payload, or exceeds the limit.
    Length(u32),
}

impl core::fmt::Display for PacketError {
    fn fmt(&self, formatter: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        match self {
            Self::Short => formatter.write_str("a packet without a header"),
            Self::Magic => formatter.write_str("a packet that does not begin as packets do"),
            Self::Version(version, _) => write!(formatter, "a packet of version {version}"),
            Self::Length(length) => write!(formatter, "a packet with a wrong length of {length} bytes"),
        }
    }
}

impl core::error::Error for PacketError {}

impl<'a> Packet<'a> {
    /// Decodes the bytes of one receive call. The payload has at most `most` bytes: [`MOST_IN_REQUEST`](crate::MOST_IN_REQUEST) or
    /// [`MOST_IN_REPLY`](crate::MOST_IN_REPLY).
    ///
    /// # Errors
    /// The bytes are not a valid packet.
    pub fn read(bytes: &'a [u8], most: usize) -> Result<Self, PacketError> {
        let (header, payload) = bytes.split_first_chunk::<HEADER_BYTES>().ok_or(PacketError::Short)?;
        let [m0, m1, m2, m3, v0, v1, o0, o1, r0, r1, r2, r3, l0, l1, l2, l3] = *header;
        if [m0, m1, m2, m3] != MAGIC {
            return Err(PacketError::Magic);
        }
        let operation = u16::from_le_bytes([o0, o1]);
        let header = Header {
            operation: operation & !REPLY,
            is_reply: operation & REPLY != 0,
            request: u32::from_le_bytes([r0, r1, r2, r3]),
        };
        let version = u16::from_le_bytes([v0, v1]);
        if version != VERSION {
            return Err(PacketError::Version(version, header));
        }
        let length = u32::from_le_bytes([l0, l1, l2, l3]);
        if usize::try_from(length) != Ok(payload.len()) || payload.len() > most {
            return Err(PacketError::Length(length));
        }
        Ok(Self { header, payload })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use crate::{MOST_IN_REPLY, MOST_IN_REQUEST};
    use std::vec::Vec;

    fn packet(header: Header, payload: &[u8]) -> Vec<u8> {
        [&header.bytes(payload.len() as u32)[..], payload].concat()
    }

    #[test]
    fn lsv_34_a_packet_is_read_as_it_was_written() {
        let asked = Header::request(Operation::Get, 0x0102_0304);
        let bytes = packet(asked, b"{}");
        assert_eq!(&bytes[..], b"VKLS\x02\0\x02\0\x04\x03\x02\x01\x02\0\0\0{}");
        let read = Packet::read(&bytes, MOST_IN_REQUEST).unwrap();
        assert_eq!((read.header, read.payload), (asked, &b"{}"[..]));

        let answered = packet(asked.reply(), b"");
        assert_eq!(&answered[6..8], b"\x02\x80");
        assert_eq!(Packet::read(&answered, MOST_IN_REPLY).unwrap().header, asked.reply());
    }

    #[test]
    fn lsv_35_what_is_no_packet_is_told_apart() {
        let good = packet(Header::request(Operation::Features, 1), b"{}");
        let read = |change: fn(&mut Vec<u8>)| {
            let mut bytes = good.clone();
            change(&mut bytes);
            Packet::read(&bytes, MOST_IN_REQUEST).unwrap_err()
        };
        assert_eq!(read(|bytes| bytes.truncate(15)), PacketError::Short);
        assert_eq!(read(|bytes| bytes[0] = b'v'), PacketError::Magic);
        assert_eq!(
            read(|bytes| bytes[4] = 1),
            PacketError::Version(1, Header::request(Operation::Features, 1))
        );
        assert_eq!(read(|bytes| bytes.push(b' ')), PacketError::Length(2));
        assert_eq!(read(|bytes| bytes.truncate(16)), PacketError::Length(2));
        assert_eq!(read(|bytes| bytes[15] = 0x80), PacketError::Length(0x8000_0002));
    }

    #[test]
    fn lsv_34_the_longest_payload_has_a_limit() {
        let header = Header::request(Operation::Get, 1);
        assert!(Packet::read(&packet(header, &[b' '; MOST_IN_REQUEST]), MOST_IN_REQUEST).is_ok());
        let long = packet(header, &[b' '; MOST_IN_REQUEST + 1]);
        assert_eq!(Packet::read(&long, MOST_IN_REQUEST), Err(PacketError::Length(4097)));
    }
}
