//! The main loop. One thread serves all clients, receives events about devices and packages, and waits for all of them in one system call.

mod connections;
mod requests;

use crate::accounts::{Account, Accounts};
use crate::client::{Attachment, Buffer, Client, End, Waits};
use crate::config::Config;
use crate::drivers::Drivers;
use crate::inspect::{self, Debug};
use crate::library::Library;
use crate::limits::{self, Rates};
use crate::memory::{Memory, Text};
use crate::package::Class;
use crate::protocol::Reply;
use crate::socket::Listener;
use crate::watch::{self, FolderWatch};
use crate::worker::Worker;
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::mem::{self, MaybeUninit};
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{debug, info, warn};
use wire::{PacketError, VERSION, status};

/// Upper bound on the events that one call of `epoll_wait` returns to the loop. The bound suffices for all clients and the other event
/// sources, so the loop accepts connections and answers one packet of each client in every turn.
const EVENTS: usize = limits::CLIENTS + 16;
/// Lower bound on the time between two scans of the devices.
const BETWEEN_SCANS: Duration = Duration::from_millis(50);
/// Time for which the loop collects changes of the state before it writes the state to files. Each connection changes the state.
const BETWEEN_WRITES: Duration = Duration::from_secs(1);
/// Time for which the loop ignores a client that exceeds its rate. If no descriptor is free, the loop also ignores the listening socket for
/// this time.
const PAUSE: Duration = Duration::from_millis(10);

/// The event source that a descriptor in the loop belongs to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum EventSource {
    Listener,
    Worker,
    Devices,
    Packages,
    Client(u64),
}

impl EventSource {
    const FIRST_CLIENT: u64 = 16;

    fn data(self) -> epoll::EventData {
        epoll::EventData::new_u64(match self {
            Self::Listener => 0,
            Self::Worker => 1,
            Self::Devices => 2,
            Self::Packages => 3,
            Self::Client(number) => Self::FIRST_CLIENT + number,
        })
    }

    fn of(event: &epoll::Event) -> Option<Self> {
        match event.data.u64() {
            0 => Some(Self::Listener),
            1 => Some(Self::Worker),
            2 => Some(Self::Devices),
            3 => Some(Self::Packages),
            number => number.checked_sub(Self::FIRST_CLIENT).map(Self::Client),
        }
    }
}

/// The running service.
pub struct Server {
    config: Config,
    config_text: Value,
    drivers: Drivers<Library>,
    memory: Memory,
    epoll: OwnedFd,
    listener: Listener,
    worker: Worker,
    devices: FolderWatch,
    packages: Arc<FolderWatch>,
    clients: BTreeMap<u64, Client>,
    next_client: u64,
    /// Sockets that the loop closes at the end of its turn ([`close`](crate::client::close)), with the accounts of their users.
    closing: Vec<(Account, OwnedFd)>,
    sweep_at: Option<Instant>,
    rates: Rates,
    accounts: Accounts,
    /// The current list of manifests for each class.
    lists: BTreeMap<Option<Class>, List>,
    scan_at: Option<Instant>,
    /// `true` if a package or device has changed since the loop last looked at the clients that wait for an answer.
    has_news: bool,
    /// Time at which the loop accepts connections, and requests of users above their rates, again.
    resume_at: Option<Instant>,
    write_at: Option<Instant>,
    debug: Option<Debug>,
    /// User who runs this process.
    user: u32,
}

/// A list of manifests, in the form that clients receive.
#[derive(Clone)]
struct List {
    /// Generation of the published list that the text contains.
    generation: u64,
    text: Rc<Text>,
    count: usize,
}

impl Server {
    /// Opens all files and sockets that the loop needs. After this call, the process can give up its privileges.
    ///
    /// # Errors
    /// Returns the error that the system reported.
    pub fn new(config: Config, listener: Listener, debug: Option<Debug>) -> io::Result<Self> {
        let packages = Arc::new(FolderWatch::new(true)?);
        let memory = Memory::default();
        let reader = crate::reader::Reader {
            roots: config.roots.clone(),
            owner: crate::package::Owner::ROOT,
            hand_out: config.libraries,
            memory: memory.clone(),
        };
        for root in &config.roots {
            packages.add(root);
        }
        let devices = FolderWatch::new(false)?;
        devices.add(&config.dri);
        let now = Instant::now();
        let server = Self {
            config_text: config.value(),
            drivers: Drivers::new(config.rules()),
            memory,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            listener,
            worker: Worker::start(reader, packages.clone())?,
            devices,
            packages,
            clients: BTreeMap::new(),
            next_client: 0,
            closing: Vec::new(),
            sweep_at: None,
            rates: Rates::new(now),
            accounts: Accounts::open(),
            lists: BTreeMap::new(),
            scan_at: Some(now),
            has_news: false,
            resume_at: None,
            write_at: Some(now),
            debug,
            user: rustix::process::geteuid().as_raw(),
            config,
        };
        server.add(&server.listener.socket, EventSource::Listener)?;
        server.add(&server.worker, EventSource::Worker)?;
        server.add(&server.devices, EventSource::Devices)?;
        server.add(&server.packages, EventSource::Packages)?;
        Ok(server)
    }

    fn add(&self, what: impl AsFd, source: EventSource) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, what, source.data(), epoll::EventFlags::IN)?)
    }

    /// Serves clients until the process ends.
    ///
    /// # Errors
    /// Returns the error of a system call of the loop. Errors of clients do not end the loop.
    pub fn run(mut self) -> io::Result<()> {
        loop {
            self.settle(Instant::now());
            self.close_all();
            let timeout = self.next().map(|at| at.saturating_duration_since(Instant::now()));
            let mut space = [MaybeUninit::uninit(); EVENTS];
            let events = match epoll::wait(&self.epoll, &mut space, timeout.and_then(timespec).as_ref()) {
                Ok((events, _)) => events,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let events: Vec<_> = events
                .iter()
                .filter_map(|event| Some((EventSource::of(event)?, event.flags)))
                .collect();
            for (source, flags) in events {
                self.handle(source, flags);
            }
        }
    }

    fn handle(&mut self, source: EventSource, flags: epoll::EventFlags) {
        let now = Instant::now();
        match source {
            EventSource::Listener => self.accept(now),
            EventSource::Worker => self.take_reports(now),
            EventSource::Devices => {
                if self.devices.has_changed() {
                    // The folder may be a new one.
                    self.devices.add(&self.config.dri);
                    self.scan_at.get_or_insert(now + BETWEEN_SCANS);
                }
            }
            EventSource::Packages => {
                if self.packages.has_changed() {
                    self.packages_changed(now);
                }
            }
            EventSource::Client(number) => self.serve(number, flags, now),
        }
    }

    fn packages_changed(&mut self, now: Instant) {
        // If a root folder was created since the last call, this call replaces the watch of the root's parent by a watch of the root.
        for root in &self.config.roots {
            self.packages.add(root);
        }
        self.drivers.packages_touched(now);
    }

    /// Does the work that is due at `now`, and sends the results of this work to clients.
    fn settle(&mut self, now: Instant) {
        if self.scan_at.is_some_and(|at| at <= now) {
            self.scan_at = None;
            let seen = watch::scan(&self.config.dri, &self.config.sys);
            self.drivers.devices_seen(now, seen);
            self.has_news = true;
            self.write_soon(now);
        }
        if self.resume_at.is_some_and(|at| at <= now) {
            self.resume_at = None;
            self.listen(epoll::EventFlags::IN);
            self.serve_all(|waits| waits == Waits::ForRate, now);
        }
        self.sweep(now);
        let before = self.drivers.generation();
        self.drivers.advance(now);
        for job in self.drivers.take_jobs() {
            debug!("job: {job:?}");
            self.worker.give(job);
        }
        if before != self.drivers.generation() {
            self.write_soon(now);
        }
        // A report of a worker can answer a request without a change of the published list.
        let has_news = mem::take(&mut self.has_news);
        let is_known = has_news || before != self.drivers.generation() || !self.drivers.is_pending(now);
        self.serve_all(
            |waits| matches!(waits, Waits::ForAnswer(until) if is_known || until <= now),
            now,
        );
        if self.write_at.is_some_and(|at| at <= now) {
            self.write_at = None;
            self.write_state();
        }
    }

    /// Returns the time at which work becomes due without an event.
    fn next(&self) -> Option<Instant> {
        let now = Instant::now();
        let own = [
            self.drivers.next(now),
            self.scan_at,
            self.write_at,
            self.resume_at,
            self.sweep_at,
        ];
        let answers = self.clients.values().filter_map(|client| match client.waits {
            Waits::ForAnswer(until) => Some(until),
            _ => None,
        });
        own.into_iter().flatten().chain(answers).min()
    }

    fn take_reports(&mut self, now: Instant) {
        for (package, read) in self.worker.reports() {
            match &read {
                Some(Err(fault)) => info!("package {package}: {fault}"),
                Some(Ok(_)) => info!("package {package} is read"),
                None => debug!("package {package} is as it was"),
            }
            self.drivers.package_finished(now, &package, read);
        }
        self.has_news = true;
        self.write_soon(now);
    }

    fn serve(&mut self, number: u64, flags: epoll::EventFlags, now: Instant) {
        let Some(client) = self.clients.get(&number).filter(|client| client.waits != Waits::ForEnd) else {
            return;
        };
        // A client that waits for an answer needs no answer after it has closed its end.
        let is_over = flags.contains(epoll::EventFlags::HUP) && client.waits != Waits::ForRequest;
        let served = if is_over {
            Err(End::Closed)
        } else {
            self.receive(number, now)
        };
        match served {
            Ok(waits) => self.wait(number, waits),
            Err(end) => self.close(number, &end, now),
        }
    }

    /// Serves the clients that wait for one kind of event. The client whose last request is the oldest comes first, so that the clients of a
    /// user above the rate of requests take turns.
    fn serve_all(&mut self, is_wanted: impl Fn(Waits) -> bool, now: Instant) {
        let wanted = self.clients.iter().filter(|(_, client)| is_wanted(client.waits));
        let mut wanted: Vec<_> = wanted.map(|(number, client)| (client.heard, *number)).collect();
        wanted.sort_unstable();
        for (_, number) in wanted {
            self.serve(number, epoll::EventFlags::empty(), now);
        }
    }

    /// Returns `true` if the client's request is new, but other connections of its account wait because of the rate. The client then has to
    /// wait too, so that new requests do not use up the rate before the waiting ones.
    fn is_behind_others(&self, number: u64) -> bool {
        let of_rate = |account| {
            let mut clients = self.clients.values();
            clients.any(|client| client.account == account && client.waits == Waits::ForRate)
        };
        self.clients.get(&number).is_some_and(|client| {
            matches!(client.waits, Waits::ForRequest | Waits::ForReading) && of_rate(client.account)
        })
    }

    /// Answers the next request of a client. The request stays in the socket if it has no answer yet, or if the client has not read the
    /// answer to the request before.
    fn receive(&mut self, number: u64, now: Instant) -> Result<Waits, End> {
        let mut buffer = Buffer::default();
        let is_behind = self.is_behind_others(number);
        let Some(client) = self.clients.get_mut(&number) else {
            return Err(End::Closed);
        };
        let Some(packet) = client.peek(&mut buffer)? else {
            return Ok(Waits::ForRequest);
        };
        if packet.is_ok() && client.has_unread() {
            return Ok(Waits::ForReading);
        }
        let is_new = !matches!(client.waits, Waits::ForAnswer(_));
        if is_new && (is_behind || !self.rates.admit(client.account, now)) {
            self.resume_at.get_or_insert(now + PAUSE);
            return Ok(Waits::ForRate);
        }
        if is_new {
            client.heard = now;
        }
        let (from, waits) = ((client.user, client.account), client.waits);
        let (asked, reply, attachment) = match packet {
            Ok(packet) => {
                let until = match waits {
                    Waits::ForAnswer(until) => until,
                    _ => now + wire::HELD_BACK,
                };
                match self.answer(from, &packet, until, now) {
                    Some((reply, attachment)) => (packet.header, reply, attachment),
                    None => return Ok(Waits::ForAnswer(until)),
                }
            }
            Err(error) => return Err(self.refuse(number, error)),
        };
        let Some(client) = self.clients.get(&number) else {
            return Err(End::Closed);
        };
        client.send(asked, &reply, &attachment)?;
        client.take();
        Ok(Waits::ForRequest)
    }

    /// Handles a malformed packet, which ends the connection, and returns the reason for the end. Answers the packet only if it has another
    /// protocol version.
    fn refuse(&self, number: u64, error: PacketError) -> End {
        if let PacketError::Version(_, asked) = error
            && let Some(client) = self.clients.get(&number)
        {
            let status = status::UNSUPPORTED;
            let reply = Reply::Version {
                status,
                version: VERSION,
            };
            if let Err(end) = client.send(asked, &reply, &Attachment::None) {
                return end;
            }
        }
        End::Garbage(error)
    }

    /// Sets the condition for the next step with a client, and selects the events that the system reports.
    fn wait(&mut self, number: u64, waits: Waits) {
        let Some(client) = self.clients.get_mut(&number) else {
            return;
        };
        if std::mem::replace(&mut client.waits, waits) == waits {
            return;
        }
        let flags = match waits {
            Waits::ForRequest => epoll::EventFlags::IN,
            // The connection has room for further answers, so the system would report it again and again. With `ET`, the system reports it
            // only when the client reads an answer.
            Waits::ForReading => epoll::EventFlags::OUT | epoll::EventFlags::ET,
            // The system reports the end of the connection nevertheless.
            Waits::ForRate | Waits::ForAnswer(_) | Waits::ForEnd => epoll::EventFlags::empty(),
        };
        if let Err(error) = epoll::modify(&self.epoll, &*client, EventSource::Client(number).data(), flags) {
            warn!("client {number} is not listened to: {error}");
        }
    }

    /// Selects the events of the listening socket that the system reports.
    fn listen(&self, flags: epoll::EventFlags) {
        if let Err(error) = epoll::modify(&self.epoll, &self.listener.socket, EventSource::Listener.data(), flags) {
            warn!("the socket is not listened to: {error}");
        }
    }

    fn write_soon(&mut self, now: Instant) {
        self.write_at.get_or_insert(now + BETWEEN_WRITES);
    }

    fn state(&self) -> Value {
        let open = self.clients.values().filter(|client| client.waits != Waits::ForEnd);
        inspect::state(&self.drivers, &self.config_text, open.count())
    }

    fn write_state(&mut self) {
        let Some(debug) = &self.debug else { return };
        if let Err(error) = debug.write(&self.drivers, &self.state()) {
            warn!(
                "the state is no longer written to {}: {error}",
                self.config.run.display()
            );
            self.debug = None;
        }
    }
}

fn timespec(duration: Duration) -> Option<Timespec> {
    // Rounds up, so that the loop does not wake up shortly before the requested time.
    Timespec::try_from(duration + Duration::from_micros(100)).ok()
}
