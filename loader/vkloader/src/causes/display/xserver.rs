//! Sends requests to an X server, to find out whether programs can use it.

use crate::regular;
use crate::variables::Variables;
use rustix::system::uname;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Name of the method of authorization that the X servers of this machine use.
const COOKIE: &[u8] = b"MIT-MAGIC-COOKIE-1";
/// Kinds of authorizations: for a host that the address names, and for any host.
const OF_HOST: [u8; 2] = [1, 0];
const OF_ANY: [u8; 2] = [0xFF, 0xFF];
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
        let text = is_small.then(|| regular::text(file).ok()).flatten()?;
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

/// Returns the path of the file of authorizations that programs use.
pub(super) fn file(variables: &Variables) -> PathBuf {
    match variables.get("XAUTHORITY") {
        Some(file) => file.into(),
        None => Path::new(&variables.get("HOME").unwrap_or_default()).join(".Xauthority"),
    }
}

fn cookies(variables: &Variables) -> Vec<u8> {
    regular::read(file(variables)).unwrap_or_default()
}

/// Returns the authorization for a display of this machine.
pub(super) fn cookie(number: &str, variables: &Variables) -> Option<Vec<u8>> {
    cookie_in(&cookies(variables), number)
}

/// Returns the authorization for a display of this machine in a file of authorizations.
pub(super) fn cookie_in(entries: &[u8], number: &str) -> Option<Vec<u8>> {
    cookie_of(entries, number, uname().nodename().to_bytes())
}

/// Returns the authorization for a display of the machine `host`. Several machines can share one file, and the libraries of X11 skip the entries for
/// others. Prefers an entry for this machine, and then one for any machine.
fn cookie_of(entries: &[u8], number: &str, host: &[u8]) -> Option<Vec<u8>> {
    let distance = |entry: &Entry<'_>| match entry.kind {
        OF_HOST if entry.address == host => Some(0),
        OF_ANY => Some(1),
        _ => None,
    };
    let own = Entries(entries).filter(|entry| entry.is_for(number));
    let nearest = own.filter_map(|entry| Some((distance(&entry)?, entry.data)));
    nearest
        .min_by_key(|(distance, _)| *distance)
        .map(|(_, data)| data.into())
}

/// Returns the authorization for a display in a file whose entries for this display all name other hosts than `host`, with the name in the entry.
fn other_host(entries: &[u8], number: &str, host: &[u8]) -> Option<(String, Vec<u8>)> {
    if cookie_of(entries, number, host).is_some() {
        return None;
    }
    let mut others = Entries(entries).filter(|entry| entry.kind == OF_HOST && entry.is_for(number));
    let entry = others.next()?;
    Some((String::from_utf8_lossy(entry.address).into_owned(), entry.data.into()))
}

/// Returns the host in the entry for a display, if a server accepts the authorization in it, but the entry is for another host than this one. Also
/// returns the name of this host. The libraries of X11 then use no authorization.
pub(super) fn of_other_host(
    server: &mut impl Connection,
    number: &str,
    variables: &Variables,
) -> Option<(String, String)> {
    let own = uname();
    let (other, cookie) = other_host(&cookies(variables), number, own.nodename().to_bytes())?;
    let is_it = accepts(server, Some(&cookie)) == Some(true);
    is_it.then(|| (other, own.nodename().to_string_lossy().into_owned()))
}

/// An entry in a file of authorizations.
struct Entry<'a> {
    kind: [u8; 2],
    /// Name of the host.
    address: &'a [u8],
    /// Number of the display; empty for all displays.
    number: &'a [u8],
    /// Name of the method.
    name: &'a [u8],
    data: &'a [u8],
}

impl Entry<'_> {
    fn is_for(&self, number: &str) -> bool {
        self.name == COOKIE && (self.number.is_empty() || self.number == number.as_bytes())
    }
}

/// The rest of a file of authorizations.
struct Entries<'a>(&'a [u8]);

impl<'a> Iterator for Entries<'a> {
    type Item = Entry<'a>;

    fn next(&mut self) -> Option<Entry<'a>> {
        let kind = take(&mut self.0, 2)?.try_into().ok()?;
        let mut part = || {
            let length = take(&mut self.0, 2)?;
            let length = u16::from_be_bytes([length[0], length[1]]);
            take(&mut self.0, length.into())
        };
        Some(Entry {
            kind,
            address: part()?,
            number: part()?,
            name: part()?,
            data: part()?,
        })
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
        // The entry for another machine is not used, and is named if there is no other.
        let others = of_node(b"node1");
        assert_eq!(cookie_of(&others, "10", b"node2"), None);
        let other = |number, host| other_host(&others, number, host).map(|(host, _)| host);
        assert_eq!(other("10", b"node2").as_deref(), Some("node1"));
        assert_eq!(other("10", b"node1"), None);
        assert_eq!(other("11", b"node2"), None);
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
