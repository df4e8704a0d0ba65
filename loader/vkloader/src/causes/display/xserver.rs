//! Sends requests to an X server, to find out whether programs can use it.

use crate::variables::Variables;
use rustix::system::uname;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::time::Duration;

/// Name of the method of authorization that the X servers of this machine use.
const COOKIE: &[u8] = b"MIT-MAGIC-COOKIE-1";
/// Time limit for each answer of the server.
const LIMIT: Duration = Duration::from_secs(1);

/// A connection to an X server.
pub(super) trait Connection: Read + Write {
    /// Sets the time limit for each answer of the server.
    fn limit(&self, limit: Duration) -> io::Result<()>;
}

impl Connection for UnixStream {
    fn limit(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))?;
        self.set_write_timeout(Some(limit))
    }
}

impl Connection for TcpStream {
    fn limit(&self, limit: Duration) -> io::Result<()> {
        self.set_read_timeout(Some(limit))?;
        self.set_write_timeout(Some(limit))
    }
}

/// Returns `true` if an X server accepts a client with the authorization `cookie`; `None` if the server does not answer.
pub(super) fn accepts(server: &mut impl Connection, cookie: Option<&[u8]>) -> Option<bool> {
    let (name, data) = match cookie {
        Some(cookie) => (COOKIE, cookie),
        None => (&b""[..], &b""[..]),
    };
    // The request consists of the byte order, version 11, and the lengths of the authorization.
    let mut hello = vec![b'l', 0, 11, 0, 0, 0];
    for part in [name, data] {
        hello.extend(u16::try_from(part.len()).ok()?.to_le_bytes());
    }
    hello.extend([0, 0]);
    for part in [name, data] {
        hello.extend(part);
        hello.resize(hello.len().next_multiple_of(4), 0);
    }
    let mut answer = [0];
    server.limit(LIMIT).ok()?;
    server.write_all(&hello).ok()?;
    server.read_exact(&mut answer).ok()?;
    Some(answer == [1])
}

/// Returns `true` if the X server of a display has the extension DRI3; `None` if the server does not answer.
pub(super) fn has_dri3(number: &str, variables: &Variables) -> Option<bool> {
    let mut server = UnixStream::connect(format!("/tmp/.X11-unix/X{number}")).ok()?;
    if !accepts(&mut server, cookie(number, variables).as_deref())? {
        return None;
    }
    let mut head = [0; 7];
    server.read_exact(&mut head).ok()?;
    // The rest of the answer describes the server. The answer contains the length of the rest, in units of four bytes.
    let units = u16::from_le_bytes([head[5], head[6]]);
    let mut rest = vec![0; usize::from(units) * 4];
    server.read_exact(&mut rest).ok()?;
    // Sends the request QueryExtension, which is twelve bytes long: three units of four bytes.
    server.write_all(b"\x62\0\x03\0\x04\0\0\0DRI3").ok()?;
    let mut reply = [0; 32];
    server.read_exact(&mut reply).ok()?;
    (reply[0] == 1).then_some(reply[8] == 1)
}

/// File and folders with the configuration of Xorg, relative to the root.
const OF_XORG: [&str; 3] = ["etc/X11/xorg.conf", "etc/X11/xorg.conf.d", "usr/share/X11/xorg.conf.d"];

/// Returns the file and the line with which the configuration of Xorg limits the server to DRI2.
pub(super) fn option_dri(root: &Path) -> Option<String> {
    let mut files = Vec::new();
    for place in OF_XORG.map(|place| root.join(place)) {
        let mut within: Vec<_> = match std::fs::read_dir(&place) {
            Ok(entries) => entries.flatten().map(|entry| entry.path()).collect(),
            Err(_) => vec![place],
        };
        within.sort();
        files.append(&mut within);
    }
    files.iter().find_map(|file| {
        let is_small = std::fs::metadata(file).is_ok_and(|state| state.is_file() && state.len() < 1 << 20);
        let text = is_small.then(|| std::fs::read_to_string(file).ok()).flatten()?;
        let line = text.lines().position(limits_dri)?;
        Some(format!("{}, line {}", file.display(), line + 1))
    })
}

/// Returns `true` for a line `Option "DRI" "2"`. Also accepts older versions.
fn limits_dri(line: &str) -> bool {
    let line = line.trim().to_lowercase();
    let Some(rest) = line.strip_prefix("option") else {
        return false;
    };
    let words: Vec<&str> = rest.split('"').map(str::trim).filter(|word| !word.is_empty()).collect();
    matches!(words[..], ["dri", "1" | "2", ..])
}

fn cookies(variables: &Variables) -> Vec<u8> {
    let file = match variables.get("XAUTHORITY") {
        Some(file) => file.into(),
        None => Path::new(&variables.get("HOME").unwrap_or_default()).join(".Xauthority"),
    };
    std::fs::read(file).unwrap_or_default()
}

/// Returns the authorization for a display of this machine.
pub(super) fn cookie(number: &str, variables: &Variables) -> Option<Vec<u8>> {
    cookie_in(&cookies(variables), number)
}

/// Returns the authorization for a display of this machine in a file of authorizations.
pub(super) fn cookie_in(entries: &[u8], number: &str) -> Option<Vec<u8>> {
    cookie_of(entries, number, uname().nodename().to_bytes())
}

/// Returns the authorization for a display of the machine `host`. Several machines can share one file. Prefers an entry for this machine, and then
/// one for any machine.
fn cookie_of(mut rest: &[u8], number: &str, host: &[u8]) -> Option<Vec<u8>> {
    const OF_ANY: [u8; 2] = [0xFF, 0xFF];
    let mut found: Option<(u8, Vec<u8>)> = None;
    loop {
        let kind = take(&mut rest, 2);
        let mut parts = [&[][..]; 4];
        let is_whole = parts.iter_mut().all(|part| {
            let length = take(&mut rest, 2).map(|length| u16::from_be_bytes([length[0], length[1]]));
            let bytes = length.and_then(|length| take(&mut rest, usize::from(length)));
            bytes.map(|bytes| *part = bytes).is_some()
        });
        let Some(kind) = kind.filter(|_| is_whole) else {
            return found.map(|(_, data)| data);
        };
        let [address, of, name, data] = parts;
        let distance = match kind {
            _ if address == host => 0,
            _ if kind == OF_ANY => 1,
            _ => 2,
        };
        let is_nearer = found.as_ref().is_none_or(|(known, _)| distance < *known);
        if name == COOKIE && (of.is_empty() || of == number.as_bytes()) && is_nearer {
            found = Some((distance, data.into()));
        }
    }
}

/// Removes and returns the first `count` bytes; returns `None` if there are fewer bytes.
fn take<'a>(bytes: &mut &'a [u8], count: usize) -> Option<&'a [u8]> {
    let (first, rest) = bytes.split_at_checked(count)?;
    *bytes = rest;
    Some(first)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_for_this_machine_is_preferred() {
        let entry = |kind: [u8; 2], parts: [&[u8]; 4]| {
            let mut bytes = kind.to_vec();
            for part in parts {
                bytes.extend(u16::try_from(part.len()).expect("short").to_be_bytes());
                bytes.extend(part);
            }
            bytes
        };
        let of_node = |name: &[u8]| entry([1, 0], [name, b"10", COOKIE, name]);
        let entries = [
            of_node(b"node1"),
            of_node(b"node2"),
            entry([0xFF, 0xFF], [b"", b"", COOKIE, b"any"]),
        ]
        .concat();
        for (number, host, wanted) in [("10", "node2", "node2"), ("10", "node3", "any"), ("11", "node1", "any")] {
            let found = cookie_of(&entries, number, host.as_bytes()).expect("a cookie");
            assert_eq!(found, wanted.as_bytes(), "{number} {host}");
        }
        assert_eq!(cookie_of(&entries[..7], "10", b"node1"), None);
    }

    #[test]
    fn the_line_that_limits_the_server_to_dri2_is_found() {
        let root = tempfile::tempdir().expect("a folder");
        assert_eq!(option_dri(root.path()), None);
        let folder = root.path().join("etc/X11/xorg.conf.d");
        std::fs::create_dir_all(&folder).expect("folders");
        let file = folder.join("20-amdgpu.conf");
        for (line, is_limit) in [
            ("\tOption \"DRI\" \"2\"", true),
            ("  option  \"dri\"\t\"1\" # old", true),
            ("Option \"DRI\" \"3\"", false),
            ("# Option \"DRI\" \"2\"", false),
            ("Option \"TearFree\" \"2\"", false),
        ] {
            std::fs::write(&file, format!("Section \"Device\"\n{line}\nEndSection\n")).expect("a file");
            let expected = is_limit.then(|| format!("{}, line 2", file.display()));
            assert_eq!(option_dri(root.path()), expected, "{line}");
        }
    }
}
