//! The contents of packets (LSV-34, LSV-35). Parses the payload of a request, and writes the payload of a reply. The crate
//! `vulkan-loader-wire` defines the format of the packets.

use crate::drivers::{Drivers, Lookup};
use crate::json;
use crate::package::Class;
use serde::{Deserialize, Serialize};
use std::time::Instant;
use wire::{Header, Operation, Packet, status};

/// A client's request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Request {
    /// A request for the features of the service.
    Features,
    /// A request for the library with this key. If the request also has a checksum, it is for the library with this checksum only.
    Get(String, Option<String>),
    /// A request for the manifests.
    Manifests {
        /// `true` if the service must answer only when no work is pending.
        wait_for_idle: bool,
        /// Class of the client's program; `None` if the request does not name the class.
        class: Option<Class>,
    },
    /// A request for the list of devices.
    Devices,
    /// A request for the state of the service.
    Inspect,
}

impl Request {
    /// Reads the request in a packet.
    ///
    /// # Errors
    /// Returns the status that the answer must have.
    pub fn read(packet: &Packet<'_>) -> Result<Self, &'static str> {
        let operation = Operation::from_number(packet.header.operation).ok_or(status::UNSUPPORTED)?;
        if packet.header.is_reply {
            return Err(status::BAD_REQUEST);
        }
        let asked: Members = json::object(packet.payload).map_err(|_| status::BAD_REQUEST)?;
        Ok(match operation {
            Operation::Features => Self::Features,
            Operation::Get => {
                let name = asked.name.filter(|name| wire::is_key(name.as_bytes()));
                Self::Get(name.ok_or(status::BAD_REQUEST)?, asked.sha256)
            }
            Operation::Manifests => Self::Manifests {
                wait_for_idle: asked.wait_for_idle,
                class: match asked.bits {
                    None => None,
                    Some(32) => Some(Class::Bits32),
                    Some(64) => Some(Class::Bits64),
                    Some(_) => return Err(status::BAD_REQUEST),
                },
            },
            Operation::Devices => Self::Devices,
            Operation::Inspect => Self::Inspect,
        })
    }

    /// Returns `true` if the answer depends on work that is not finished (LSV-3, LSV-35).
    pub fn is_pending<L>(&self, drivers: &Drivers<L>, now: Instant) -> bool {
        match self {
            Self::Get(key, _) => matches!(drivers.look_up(now, key), Lookup::Pending),
            Self::Manifests { wait_for_idle, .. } => *wait_for_idle && drivers.is_pending(now),
            Self::Features | Self::Devices | Self::Inspect => false,
        }
    }
}

/// The members of all requests. Each operation uses some of the members.
#[derive(Default, Deserialize)]
#[serde(default)]
struct Members {
    name: Option<String>,
    sha256: Option<String>,
    wait_for_idle: bool,
    bits: Option<u64>,
}

/// The payload of a packet that the service sends.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum Reply {
    /// A reply without further data.
    Status {
        /// Status, a word of `wire::status`.
        status: &'static str,
    },
    /// The answer to a packet of another protocol version.
    Version {
        /// Status, always `wire::status::UNSUPPORTED`.
        status: &'static str,
        /// Version of the protocol, always `wire::VERSION`.
        version: u16,
    },
    /// The answer about the features of the service.
    Features {
        /// Bits of `wire::Features`.
        features: u64,
    },
    /// The answer about a library, whose descriptor comes with the packet.
    Library {
        /// Status, always `wire::status::OK`.
        status: &'static str,
        /// Size of the library in bytes.
        size: u64,
        /// Hash of the bytes, in hexadecimal digits.
        sha256: String,
    },
    /// The answer about the manifests, which are in the memory file that comes with the packet.
    Manifests {
        /// Status, always `wire::status::OK`.
        status: &'static str,
        /// Number of the drivers in the memory file.
        count: usize,
    },
    /// The answer about the devices.
    Devices {
        /// The devices, in the order of their numbers.
        devices: Vec<Device>,
    },
}

/// A device in a reply.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Name of the device's node.
    pub node: String,
    /// Name of the kernel's driver.
    pub driver: String,
    /// Numbers of the instances that serve the device: at most one for each word size.
    pub active_icds: Vec<String>,
}

impl Reply {
    /// Creates a reply that has only a status.
    pub fn status(status: &'static str) -> Self {
        Self::Status { status }
    }

    /// Returns the packet that answers the request with this header.
    pub fn packet(&self, asked: Header) -> Vec<u8> {
        // Writing a reply as JSON cannot fail. If the reply is too long for a packet, the service sends the status `busy` instead.
        let payload = serde_json::to_vec(self)
            .ok()
            .filter(|payload| payload.len() <= wire::MOST_IN_REPLY);
        let payload = payload.unwrap_or_else(|| format!(r#"{{"status":"{}"}}"#, status::BUSY).into_bytes());
        let length = u32::try_from(payload.len()).unwrap_or(0);
        [&asked.reply().bytes(length)[..], &payload].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::Rules;

    fn read(operation: u16, payload: &[u8]) -> Result<Request, &'static str> {
        let header = Header {
            operation,
            is_reply: false,
            request: 1,
        };
        Request::read(&Packet { header, payload })
    }

    #[test]
    fn lsv_34_requests() {
        assert_eq!(read(1, b"{}"), Ok(Request::Features));
        assert_eq!(
            read(2, br#"{"name":"0-a.so","more":1}"#),
            Ok(Request::Get("0-a.so".into(), None))
        );
        assert_eq!(
            read(2, br#"{"name":"0-a.so","sha256":"ab"}"#),
            Ok(Request::Get("0-a.so".into(), Some("ab".into())))
        );
        for (payload, wait_for_idle, class) in [
            ("{}", false, None),
            (r#"{"wait_for_idle":true}"#, true, None),
            (r#"{"bits":32}"#, false, Some(Class::Bits32)),
            (wire::MANIFESTS, true, Some(Class::Bits64)),
        ] {
            let request = Request::Manifests { wait_for_idle, class };
            assert_eq!(read(3, payload.as_bytes()), Ok(request), "{payload}");
        }
        assert_eq!(read(4, b"{}"), Ok(Request::Devices));
        assert_eq!(read(6, b"{}"), Ok(Request::Inspect));
    }

    #[test]
    fn lsv_35_answers_depend_on_work() {
        let now = Instant::now();
        let mut drivers = Drivers::<()>::new(Rules {
            allow_fallback: false,
            ..Rules::default()
        });
        let manifests = |wait_for_idle| Request::Manifests {
            wait_for_idle,
            class: None,
        };
        let library = Request::Get("0-a.so".into(), None);
        for request in [&library, &manifests(true)] {
            assert!(request.is_pending(&drivers, now));
        }
        assert!(!manifests(false).is_pending(&drivers, now));
        drivers.devices_seen(now, Vec::new());
        for request in [&library, &manifests(true)] {
            assert!(!request.is_pending(&drivers, now));
        }
    }

    #[test]
    fn lsv_60_bad_requests() {
        for payload in [
            &b""[..],
            b"[]",
            b"{}",
            br#"{"name":1}"#,
            br#"{"name":""}"#,
            br#"{"name":"a/b"}"#,
            br#"{"name":"a\u0000"}"#,
            b"{\"name\":\"\xff\"}",
            br#"{"name":"a","name":"a"}"#,
            br#"{"name":"a","sha256":1}"#,
            format!(r#"{{"name":"{}"}}"#, "x".repeat(65)).as_bytes(),
        ] {
            assert_eq!(read(2, payload), Err(status::BAD_REQUEST), "{payload:?}");
        }
        for payload in [r#"{"wait_for_idle":1}"#, r#"{"bits":16}"#, r#"{"bits":"64"}"#] {
            assert_eq!(read(3, payload.as_bytes()), Err(status::BAD_REQUEST), "{payload}");
        }
        let header = Header::request(Operation::Features, 1).reply();
        assert_eq!(
            Request::read(&Packet { header, payload: b"{}" }),
            Err(status::BAD_REQUEST)
        );
    }

    #[test]
    fn lsv_34_replies() {
        let asked = Header::request(Operation::Get, 9);
        let text = |reply: Reply| {
            let bytes = reply.packet(asked);
            let packet = Packet::read(&bytes, wire::MOST_IN_REPLY).unwrap();
            assert_eq!(packet.header, asked.reply());
            String::from_utf8(packet.payload.to_vec()).unwrap()
        };
        let status = status::OK;
        assert_eq!(
            text(Reply::Manifests { status, count: 2 }),
            r#"{"status":"ok","count":2}"#
        );
        let library = Reply::Library {
            status,
            size: 3,
            sha256: "ab".into(),
        };
        assert_eq!(text(library), r#"{"status":"ok","size":3,"sha256":"ab"}"#);
        let devices = vec![Device {
            node: "x".repeat(wire::MOST_IN_REPLY),
            driver: String::new(),
            active_icds: Vec::new(),
        }];
        assert_eq!(text(Reply::Devices { devices }), r#"{"status":"busy"}"#);
    }
}
