//! Answers the requests of clients.

use super::{EventSource, List, Server};
use crate::client::{Attachment, End};
use crate::drivers::Driver;
use crate::held::{Answer, Awaited, Held};
use crate::library::Library;
use crate::limits;
use crate::memory::Text;
use crate::package::Class;
use crate::protocol::{Device, Reply, Request};
use std::rc::Rc;
use std::time::Instant;
use tracing::debug;
use wire::{DIGITS, Features, Header, Listed, Packet, status};

impl Server {
    /// Answers a packet, or keeps the request until its answer is known.
    pub(super) fn answer(&mut self, number: u64, packet: &Packet<'_>, now: Instant) -> Result<(), End> {
        let Some(client) = self.clients.get(&number) else {
            return Ok(());
        };
        let asked = packet.header;
        let request = Request::read(packet);
        debug!("client {number}: {request:?}");
        let refused = |status| (Reply::status(status), Attachment::None);
        let (reply, attachment) = match request {
            Err(status) => refused(status),
            Ok(Request::Features) => {
                let features = Features::GET | Features::DEVICES | Features::MANIFESTS;
                (Reply::Features { features }, Attachment::None)
            }
            Ok(Request::Get(key, sum)) => return self.hold(number, asked, Awaited::Library(key, sum), now),
            Ok(Request::Manifests {
                wait_for_idle: idle,
                class,
            }) => {
                return self.hold(number, asked, Awaited::Manifests { idle, class }, now);
            }
            Ok(Request::Devices) => (self.device_list(), Attachment::None),
            Ok(Request::Inspect) if client.user == 0 || client.user == self.user => {
                let text = self.state().to_string().into_bytes();
                (Reply::status(status::OK), Attachment::Text(text))
            }
            Ok(Request::Inspect) => refused(status::DENIED),
        };
        self.send(number, asked, &reply, attachment)
    }

    fn device_list(&self) -> Reply {
        let devices = self.drivers.served().iter().map(|served| Device {
            node: served.node.clone(),
            driver: served.identity.driver.clone(),
            active_icd: served.active.map(|instance| instance.to_string()),
        });
        Reply::Devices {
            devices: devices.collect(),
        }
    }

    /// Answers a request immediately if possible, and otherwise later.
    fn hold(&mut self, number: u64, asked: Header, awaited: Awaited, now: Instant) -> Result<(), End> {
        let held = Held {
            client: number,
            asked,
            awaited,
            until: now + wire::HELD_BACK,
        };
        let answer = self.outcome(&held, now);
        if let Some((reply, attachment)) = answer {
            return self.send(number, asked, &reply, attachment);
        }
        let account = |client: &u64| self.clients.get(client).map(|client| client.account);
        let of_user = self
            .held
            .iter()
            .filter(|held| account(&held.client) == account(&number));
        if of_user.count() >= limits::OUTSTANDING {
            return self.send(number, asked, &Reply::status(status::BUSY), Attachment::None);
        }
        self.held.push(held);
        Ok(())
    }

    /// Returns the answer to a request, or `None` if the request must still wait.
    fn outcome(&mut self, held: &Held, now: Instant) -> Option<(Reply, Attachment)> {
        let only = |status| Some((Reply::status(status), Attachment::None));
        match held.awaited.answer(&self.drivers, now, held.until) {
            Answer::Wait => None,
            Answer::NotFound => only(status::NOT_FOUND),
            Answer::Timeout => only(status::TIMEOUT),
            // The key belonged to another library before the service was restarted.
            Answer::Library(handed) if !held.awaited.is_for(&handed.library.sha256) => only(status::NOT_FOUND),
            Answer::Library(handed) => {
                let reply = Reply::Library {
                    status: status::OK,
                    size: handed.library.size,
                    sha256: handed.library.sha256.clone(),
                };
                Some((reply, Attachment::Library(handed)))
            }
            Answer::Manifests(class) => {
                let List { text, count, .. } = self.manifests(class);
                let status = status::OK;
                Some((Reply::Manifests { status, count }, Attachment::Shared(text)))
            }
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

    /// Answers the waiting requests whose answers are known now.
    pub(super) fn answer_held(&mut self, now: Instant) {
        let mut ended = Vec::new();
        for held in std::mem::take(&mut self.held) {
            match self.outcome(&held, now) {
                None => self.held.push(held),
                Some((reply, attachment)) => {
                    if let Err(end) = self.send(held.client, held.asked, &reply, attachment) {
                        ended.push((held.client, end));
                    }
                }
            }
        }
        for (number, end) in ended {
            self.close(number, &end, now);
        }
    }

    pub(super) fn send(
        &mut self,
        number: u64,
        asked: Header,
        reply: &Reply,
        attachment: Attachment,
    ) -> Result<(), End> {
        let Some(client) = self.clients.get_mut(&number) else {
            return Ok(());
        };
        let had_queue = client.has_queue();
        client.send(asked, reply, attachment)?;
        if client.has_queue() != had_queue {
            self.listen_to(EventSource::Client(number));
        }
        Ok(())
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
