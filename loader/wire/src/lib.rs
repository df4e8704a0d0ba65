//! The protocol between a driver service and its clients (LSV-33 to LSV-36): packets on a `SOCK_SEQPACKET` socket. A packet consists of a
//! header of 16 bytes and a payload in JSON.
//!
//! This crate has the header, the operations, the list of drivers and the limits that both sides use. A received packet is untrusted until
//! [`Packet::read`] has checked it; that function never panics. The first member of an answer about a library or list is its [`status`], so
//! a client needs no JSON parser.
#![no_std]
#![forbid(unsafe_code)]

use core::time::Duration;

mod libraries;
mod list;
mod packet;

pub use libraries::{compare_versions, exported_symbols, own_exported_symbols};
pub use list::{DIGITS, Listed};
pub use packet::{HEADER_BYTES, Header, MAGIC, Packet, PacketError, VERSION};

/// Default path of the service's socket (LSV-33).
pub const SOCKET: &str = "/run/vulkan-loader/service.sock";
/// Upper bound on the bytes of a request's payload (LSV-34).
pub const MOST_IN_REQUEST: usize = 4096;
/// Upper bound on the bytes of a reply's payload (LSV-34). Longer answers are sent as a memory file.
pub const MOST_IN_REPLY: usize = 65536;
/// Upper bound on the bytes of a library's key (LSV-2).
pub const LONGEST_KEY: usize = 64;
/// Upper bound on the bytes of a library (LSV-50).
pub const MOST_IN_LIBRARY: u64 = 1 << 30;
/// Upper bound on the bytes of a manifest, and of the description of a package (LSV-50).
pub const MOST_IN_MANIFEST: usize = 64 << 10;
/// Upper bound on the packages of a service, and therefore on its manifests (LSV-50).
pub const MOST_PACKAGES: usize = 64;
/// Beginning of the payload of an answer that has a status. The status and a quotation mark follow.
const STATUS: &[u8] = br#"{"status":""#;
/// Upper bound on the libraries that a package brings for its driver (LSV-66).
pub const MOST_NEEDS: usize = 128;

/// Payload of the request for all manifests that this program can use. The service replies after it has finished its pending updates
/// (LSV-35). The payload contains the program's word size (LSV-50).
pub const MANIFESTS: &str = if usize::BITS == 32 {
    r#"{"wait_for_idle":true,"bits":32}"#
} else {
    r#"{"wait_for_idle":true,"bits":64}"#
};

/// Longest time for which the service may delay a reply (LSV-35).
pub const HELD_BACK: Duration = Duration::from_secs(5);
/// Longest time that a client waits for the connection and the replies of a scan (LSV-42).
pub const REPLY_LIMIT: Duration = Duration::from_secs(6);

/// Requests of a client (LSV-34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u16)]
pub enum Operation {
    /// Returns the bits of [`Features`].
    Features = 1,
    /// Returns the library with this key and checksum. A descriptor comes with the reply.
    Get = 2,
    /// Returns the drivers that the client can use. A memory file with the list comes with the reply ([`Listed`]).
    Manifests = 3,
    /// Returns the devices, each with the driver that serves it.
    Devices = 4,
    /// Returns the state of the service to its administrator. A memory file comes with the reply.
    Inspect = 6,
}

impl Operation {
    /// All operations.
    pub const ALL: [Self; 5] = [Self::Features, Self::Get, Self::Manifests, Self::Devices, Self::Inspect];

    /// Returns the operation with this number in a request.
    pub fn from_number(number: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|operation| *operation as u16 == number)
    }
}

/// Features of a service, as bits in the reply to [`Operation::Features`]. Clients ignore unknown bits (LSV-2).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Features(pub u64);

impl Features {
    /// The service sends libraries.
    pub const GET: u64 = 1;
    /// The service lists devices. The service of Fuchsia returns a folder instead, which a socket cannot carry (LSV-36).
    pub const DEVICES: u64 = 2;
    /// The service lists manifests.
    pub const MANIFESTS: u64 = 4;
}

/// Values of `status` in a reply.
pub mod status {
    /// The packet contains the answer.
    pub const OK: &str = "ok";
    /// There is no library with that key and checksum (LSV-3).
    pub const NOT_FOUND: &str = "not_found";
    /// The drivers of the service are for programs of the other word size (LSV-50).
    pub const WORD_SIZE: &str = "word_size";
    /// Drivers were still loading at the end of the service's time limit (LSV-35).
    pub const TIMEOUT: &str = "timeout";
    /// The service does not know the operation, or the version of the protocol (LSV-35).
    pub const UNSUPPORTED: &str = "unsupported";
    /// The request is malformed, or came with descriptors (LSV-60, LSV-61).
    pub const BAD_REQUEST: &str = "bad_request";
    /// The service cannot send a descriptor at the moment (LSV-46).
    pub const BUSY: &str = "busy";
    /// The operation is for the administrator (LSV-45).
    pub const DENIED: &str = "denied";
}

/// Returns the status in the payload of an answer; `None` if the payload does not begin with a status.
pub fn status_of(payload: &[u8]) -> Option<&[u8]> {
    payload.strip_prefix(STATUS)?.split(|&byte| byte == b'"').next()
}

/// Returns `true` if bytes can be a library key (LSV-2, LSV-55, LSV-60): UTF-8, neither empty nor too long, without slashes, and without the
/// characters that JSON escapes.
pub fn is_key(bytes: &[u8]) -> bool {
    (1..=LONGEST_KEY).contains(&bytes.len())
        && !bytes.iter().any(|byte| matches!(byte, 0..0x20 | b'/' | b'"' | b'\\'))
        && core::str::from_utf8(bytes).is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lsv_34_the_numbers_are_those_of_the_protocol() {
        assert_eq!([MOST_IN_REQUEST, MOST_IN_REPLY], [4096, 65536]);
        assert_eq!(Operation::ALL.map(|operation| operation as u16), [1, 2, 3, 4, 6]);
        assert_eq!([Features::GET, Features::DEVICES, Features::MANIFESTS], [1, 2, 4]);
    }

    /// LSV-2, LSV-35, LSV-42, LSV-50: the limits have the values that the reference states.
    #[test]
    fn lsv_50_the_limits_are_those_of_the_reference() {
        assert_eq!([LONGEST_KEY, MOST_IN_MANIFEST, MOST_PACKAGES], [64, 65536, 64]);
        assert_eq!(MOST_IN_LIBRARY, 1_073_741_824);
        assert_eq!([HELD_BACK, REPLY_LIMIT].map(|limit| limit.as_secs()), [5, 6]);
    }

    #[test]
    fn lsv_34_the_status_comes_first() {
        for (payload, status) in [
            (r#"{"status":"ok","count":2}"#, Some("ok")),
            (r#"{"status":"busy"}"#, Some("busy")),
            (r#"{"status":""}"#, Some("")),
            (r#"{"count":2,"status":"ok"}"#, None),
            (r#"{"status":7}"#, None),
            ("{", None),
            ("", None),
        ] {
            assert_eq!(status_of(payload.as_bytes()), status.map(str::as_bytes), "{payload}");
        }
    }

    #[test]
    fn lsv_34_operations_have_their_numbers() {
        for operation in Operation::ALL {
            assert_eq!(Operation::from_number(operation as u16), Some(operation));
        }
        for number in [0, 5, 7, 0x8001, u16::MAX] {
            assert_eq!(Operation::from_number(number), None);
        }
    }

    #[test]
    fn lsv_2_a_key_is_a_short_name() {
        for key in [
            &b"0-libvulkan_lvp.so"[..],
            b"a",
            "\u{e4}".as_bytes(),
            &[b'k'; LONGEST_KEY],
        ] {
            assert!(is_key(key), "{key:?}");
        }
        for key in [
            &b""[..],
            b"a/b",
            b"a\0",
            b"a\n",
            b"a\"",
            b"a\\",
            b"\xff",
            &[b'k'; LONGEST_KEY + 1],
        ] {
            assert!(!is_key(key), "{key:?}");
        }
    }
}
