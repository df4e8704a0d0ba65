//! Messages of udev about devices. udev sends a message after its rules have set the permissions, so the message shows that a node is ready
//! more reliably than its appearance.

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::netlink::{self, SocketAddrNetlink};
use rustix::net::{AddressFamily, RecvFlags, SocketFlags, SocketType};
use std::io;

/// The netlink multicast group to which udev sends. The kernel sends its own messages to another group.
const FROM_UDEV: u32 = 2;
/// Text at the beginning of each message of udev.
const PREFIX: &[u8; 8] = b"libudev\0";
/// The number that follows [`PREFIX`], in network byte order.
const MAGIC: u32 = 0xfeed_cafe;

/// A socket that receives messages about devices.
#[derive(Debug)]
pub struct Udev {
    socket: OwnedFd,
}

impl Udev {
    /// Opens a socket that listens to udev.
    ///
    /// # Errors
    ///
    /// The system does not support or allow sockets of this kind.
    pub fn new() -> io::Result<Self> {
        let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
        let protocol = Some(netlink::KOBJECT_UEVENT);
        let socket = rustix::net::socket_with(AddressFamily::NETLINK, SocketType::RAW, flags, protocol)?;
        rustix::net::bind(&socket, &SocketAddrNetlink::new(0, FROM_UDEV))?;
        Ok(Self { socket })
    }

    /// Returns `true` if the service must scan for devices again. Only root can send to udev's group, and a forged message causes only one
    /// scan.
    pub fn has_changed(&self) -> bool {
        let mut changed = false;
        let mut bytes = [0; 8192];
        loop {
            match rustix::net::recv(&self.socket, bytes.as_mut_slice(), RecvFlags::DONTWAIT) {
                Ok((count, _)) => changed |= is_about_graphics(&bytes[..count.min(bytes.len())]),
                Err(Errno::INTR) => {}
                // The system dropped messages, which may have been about devices.
                Err(Errno::NOBUFS) => changed = true,
                Err(_) => return changed,
            }
        }
    }
}

impl AsFd for Udev {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.socket.as_fd()
    }
}

/// Returns `true` if a message is about a device of the subsystem `drm`.
fn is_about_graphics(message: &[u8]) -> bool {
    properties(message).is_some_and(|all| all.split(|byte| *byte == 0).any(|one| one == b"SUBSYSTEM=drm"))
}

/// Returns the properties in a message. The prefix and the magic number are followed by the size of the header, and the offset and length
/// of the properties.
fn properties(message: &[u8]) -> Option<&[u8]> {
    let rest = message.strip_prefix(PREFIX)?;
    let number = |at: usize| -> Option<[u8; 4]> { rest.get(at..at + 4)?.try_into().ok() };
    if u32::from_be_bytes(number(0)?) != MAGIC {
        return None;
    }
    let begin = usize::try_from(u32::from_ne_bytes(number(8)?)).ok()?;
    let length = usize::try_from(u32::from_ne_bytes(number(12)?)).ok()?;
    message.get(begin..begin.checked_add(length)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(properties: &[u8]) -> Vec<u8> {
        let length = u32::try_from(properties.len()).unwrap();
        let mut bytes = PREFIX.to_vec();
        bytes.extend(MAGIC.to_be_bytes());
        bytes.extend([40, 40, length].map(u32::to_ne_bytes).concat());
        bytes.resize(40, 0);
        bytes.extend(properties);
        bytes
    }

    #[test]
    fn lsv_25_messages_about_graphics_are_told_from_others() {
        let about = message(b"ACTION=add\0SUBSYSTEM=drm\0DEVNAME=dri/renderD128\0");
        assert!(is_about_graphics(&about));
        assert!(!is_about_graphics(&message(b"ACTION=add\0SUBSYSTEM=drm_dp\0")));
        assert!(!is_about_graphics(b"add@/devices/x\0SUBSYSTEM=drm\0"));
        for length in 0..about.len() {
            assert!(!is_about_graphics(&about[..length]), "{length}");
        }
        let mut wrong = about.clone();
        wrong[16..24].fill(0xff);
        assert!(!is_about_graphics(&wrong));
        wrong = about;
        wrong[8] = 0;
        assert!(!is_about_graphics(&wrong));
    }
}
