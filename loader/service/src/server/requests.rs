//! Answers the requests of clients.

use super::{List, Server};
use crate::accounts::Account;
use crate::client::Attachment;
use crate::drivers::{Driver, Lookup};
use crate::library::Library;
use crate::memory::Text;
use crate::package::Class;
use crate::protocol::{Device, Reply, Request};
use std::rc::Rc;
use std::time::Instant;
use tracing::debug;
use wire::{DIGITS, Features, Listed, Packet, status};

impl Server {
    /// Returns the answer to a packet of a client with a user and an account. Returns `None` if the service must finish other work first, and
    /// may do so until `until`.
    pub(super) fn answer(
        &mut self,
        client: (u32, Account),
        packet: &Packet<'_>,
        until: Instant,
        now: Instant,
    ) -> Option<(Reply, Attachment)> {
        let only = |status| Some((Reply::status(status), Attachment::None));
        let (user, account) = client;
        let request = Request::read(packet);
        debug!("user {user}: {request:?}");
        let request = match request {
            Ok(request) => request,
            Err(status) => return only(status),
        };
        if request.is_pending(&self.drivers, now) {
            return if now < until { None } else { only(status::TIMEOUT) };
        }
        // Root in a container can take the ID of the service's user.
        let is_own = user == self.user && !account.is_elsewhere;
        let (ok, may_inspect) = (status::OK, user == 0 || is_own);
        match request {
            Request::Features => {
                let features = Features::GET | Features::DEVICES | Features::MANIFESTS;
                Some((Reply::Features { features }, Attachment::None))
            }
            Request::Get(key, sum) => match self.drivers.look_up(now, &key) {
                // If the checksum differs, the key belonged to another library before the service was restarted.
                Lookup::Found(handed) if sum.is_none_or(|sum| sum == handed.library.sha256) => {
                    let (size, sha256) = (handed.library.size, handed.library.sha256.clone());
                    let reply = Reply::Library {
                        status: ok,
                        size,
                        sha256,
                    };
                    Some((reply, Attachment::Library(handed)))
                }
                _ => only(status::NOT_FOUND),
            },
            Request::Manifests { class, .. } => {
                let List { text, count, .. } = self.manifests(class);
                if count == 0 && self.drivers.published_for(None).next().is_some() {
                    return only(status::WORD_SIZE);
                }
                Some((Reply::Manifests { status: ok, count }, Attachment::Shared(text)))
            }
            Request::Devices => Some((self.device_list(), Attachment::None)),
            Request::Inspect if may_inspect => {
                let text = self.state().to_string().into_bytes();
                Some((Reply::status(ok), Attachment::Text(text)))
            }
            Request::Inspect => only(status::DENIED),
        }
    }

    fn device_list(&self) -> Reply {
        let devices = self.drivers.served().iter().map(|served| Device {
            node: served.node.clone(),
            driver: served.identity.driver.clone(),
            active_icds: served.active.iter().map(u64::to_string).collect(),
        });
        Reply::Devices {
            devices: devices.collect(),
        }
    }

    /// Returns the list of manifests for a class. All clients of the class receive the same text.
    fn manifests(&mut self, class: Option<Class>) -> List {
        let generation = self.drivers.generation();
        if let Some(list) = self.lists.get(&class)
            && list.generation == generation
        {
            return list.clone();
        }
        let (mut text, mut count) = (Vec::new(), 0);
        for driver in self.drivers.published_for(class) {
            list(driver, &mut text);
            count += 1;
        }
        let list = List {
            generation,
            text: Rc::new(Text::new(text, &self.memory)),
            count,
        };
        self.lists.insert(class, list.clone());
        list
    }
}

/// Adds the libraries of a driver to the text of a list.
fn list(driver: &Driver<Library>, text: &mut Vec<u8>) {
    // The driver's library is the first one in the package, and the last one in the list, after the libraries that it needs.
    let needs = driver.libraries.iter().skip(1).map(|need| (need, ""));
    let own = driver.libraries.first().map(|own| (own, &*driver.published.contents));
    for ((key, handed), manifest) in needs.chain(own) {
        let symbols = handed.about.symbols.to_string();
        let listed = Listed {
            key: key.as_bytes(),
            file: handed.about.path.file_name().as_bytes(),
            symbols: symbols.as_bytes(),
            c_library: handed.about.c_library.as_bytes(),
            sum: handed.library.sha256.as_bytes().try_into().unwrap_or(&[b'0'; DIGITS]),
            manifest: manifest.as_bytes(),
        };
        for part in listed.texts() {
            text.extend_from_slice(part);
            text.push(0);
        }
    }
}
