//! Sends requests to an X server, to find out whether programs can use it.

use crate::variables::Variables;
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
pub(super) fn cookie_in(mut rest: &[u8], number: &str) -> Option<Vec<u8>> {
    loop {
        // Skips the address type of an entry. Entries for other machines are rare, and the server rejects their authorization.
        take(&mut rest, 2)?;
        let mut parts = [&[][..]; 4];
        for part in &mut parts {
            let length = take(&mut rest, 2)?;
            *part = take(&mut rest, usize::from(u16::from_be_bytes([length[0], length[1]])))?;
        }
        let [_, of, name, data] = parts;
        if name == COOKIE && (of.is_empty() || of == number.as_bytes()) {
            return Some(data.into());
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
