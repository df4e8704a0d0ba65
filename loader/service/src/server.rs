//! The main loop. One thread serves all clients, receives events about devices and packages, and waits for all of them in one system call.

mod connections;
mod requests;

use crate::client::{self, Attachment, Buffer, Client, End};
use crate::config::Config;
use crate::drivers::{Drivers, State};
use crate::held::Held;
use crate::inspect::{self, Debug};
use crate::library::Library;
use crate::limits::{self, Rates};
use crate::memory::{Memory, Text};
use crate::package::Class;
use crate::protocol::Reply;
use crate::reader::Step;
use crate::socket::Listener;
use crate::unread::Unread;
use crate::watch::{self, DeviceFolder, FolderWatch, Udev};
use crate::worker::{Report, Workers};
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
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
    Workers,
    Devices,
    Udev,
    Packages,
    Client(u64),
}

impl EventSource {
    const FIRST_CLIENT: u64 = 16;

    fn data(self) -> epoll::EventData {
        epoll::EventData::new_u64(match self {
            Self::Listener => 0,
            Self::Workers => 1,
            Self::Devices => 2,
            Self::Udev => 3,
            Self::Packages => 4,
            Self::Client(number) => Self::FIRST_CLIENT + number,
        })
    }

    fn of(event: &epoll::Event) -> Option<Self> {
        match event.data.u64() {
            0 => Some(Self::Listener),
            1 => Some(Self::Workers),
            2 => Some(Self::Devices),
            3 => Some(Self::Udev),
            4 => Some(Self::Packages),
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
    workers: Workers,
    devices: DeviceFolder,
    udev: Option<Udev>,
    packages: Arc<FolderWatch>,
    clients: BTreeMap<u64, Client>,
    next_client: u64,
    unread: Unread,
    /// Sockets that the loop closes at the end of its turn ([`client::close`]).
    closing: Vec<OwnedFd>,
    sweep_at: Option<Instant>,
    rates: Rates,
    held: Vec<Held>,
    /// The current list of manifests for each class.
    lists: BTreeMap<Option<Class>, List>,
    scan_at: Option<Instant>,
    /// Event sources that the loop ignores until [`Server::resume_at`].
    paused: Vec<EventSource>,
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
    ///
    /// Returns the error that the system reported.
    pub fn new(config: Config, listener: Listener, debug: Option<Debug>) -> io::Result<Self> {
        let packages = Arc::new(FolderWatch::new()?);
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
        let udev = if config.no_udev { None } else { listen_to_udev() };
        let now = Instant::now();
        let server = Self {
            config_text: config.value(),
            drivers: Drivers::new(config.rules()),
            memory,
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            listener,
            workers: Workers::start(reader, packages.clone())?,
            devices: DeviceFolder::new(&config.dri)?,
            udev,
            packages,
            clients: BTreeMap::new(),
            next_client: 0,
            unread: Unread::default(),
            closing: Vec::new(),
            sweep_at: None,
            rates: Rates::new(now),
            held: Vec::new(),
            lists: BTreeMap::new(),
            scan_at: Some(now),
            paused: Vec::new(),
            resume_at: None,
            write_at: Some(now),
            debug,
            user: rustix::process::geteuid().as_raw(),
            config,
        };
        server.add(&server.listener.socket, EventSource::Listener)?;
        server.add(&server.workers, EventSource::Workers)?;
        server.add(&server.devices, EventSource::Devices)?;
        server.add(&server.packages, EventSource::Packages)?;
        if let Some(udev) = &server.udev {
            server.add(udev, EventSource::Udev)?;
        }
        Ok(server)
    }

    fn add(&self, what: impl AsFd, source: EventSource) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, what, source.data(), epoll::EventFlags::IN)?)
    }

    /// Serves clients until the process ends.
    ///
    /// # Errors
    ///
    /// Returns the error of a system call of the loop. Errors of clients do not end the loop.
    pub fn run(mut self) -> io::Result<()> {
        loop {
            self.settle(Instant::now());
            client::close(std::mem::take(&mut self.closing));
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
            EventSource::Workers => self.take_reports(now),
            EventSource::Devices => {
                if self.devices.has_changed() {
                    self.scan_soon(now);
                }
            }
            EventSource::Udev => {
                if self.udev.as_ref().is_some_and(Udev::has_changed) {
                    self.scan_soon(now);
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

    fn scan_soon(&mut self, now: Instant) {
        self.scan_at.get_or_insert(now + BETWEEN_SCANS);
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
            self.write_soon(now);
        }
        if self.resume_at.is_some_and(|at| at <= now) {
            self.resume_at = None;
            for source in std::mem::take(&mut self.paused) {
                self.listen_to(source);
            }
        }
        self.sweep(now);
        let before = self.drivers.generation();
        self.drivers.advance(now);
        for job in self.drivers.take_jobs() {
            debug!("job: {job:?}");
            self.workers.give(job);
        }
        if before != self.drivers.generation() {
            self.write_soon(now);
        }
        self.answer_held(now);
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
        let held = self.held.iter().map(|held| held.until);
        own.into_iter().flatten().chain(held).min()
    }

    fn take_reports(&mut self, now: Instant) {
        for report in self.workers.reports() {
            match report {
                Report::Step { package, step } => {
                    let state = match step {
                        Step::Metadata => State::Reading,
                        Step::Manifest => State::OpeningManifest,
                        Step::Library => State::OpeningLibrary,
                    };
                    self.drivers.package_step(&package, state);
                }
                Report::Finished { package, outcome } => {
                    match &outcome {
                        crate::drivers::Outcome::Failed(fault) => info!("package {package}: {fault}"),
                        crate::drivers::Outcome::Loaded(_) => info!("package {package} is read"),
                        crate::drivers::Outcome::Unchanged => debug!("package {package} is as it was"),
                    }
                    self.drivers.package_finished(now, &package, outcome);
                }
            }
        }
        self.write_soon(now);
    }

    fn serve(&mut self, number: u64, flags: epoll::EventFlags, now: Instant) {
        if let Err(end) = self.flush_and_receive(number, flags, now) {
            self.close(number, &end, now);
        }
    }

    fn flush_and_receive(&mut self, number: u64, flags: epoll::EventFlags, now: Instant) -> Result<(), End> {
        if flags.contains(epoll::EventFlags::OUT)
            && let Some(client) = self.clients.get_mut(&number)
        {
            client.flush()?;
            self.listen_to(EventSource::Client(number));
        }
        if flags.contains(epoll::EventFlags::HUP) && self.paused.contains(&EventSource::Client(number)) {
            return Err(End::Closed);
        }
        let mut buffer = Buffer::default();
        let Some(client) = self.clients.get_mut(&number) else {
            return Ok(());
        };
        let Some(packet) = client.peek(&mut buffer)? else {
            return Ok(());
        };
        if !self.rates.admit(client.account, now) {
            self.pause(EventSource::Client(number), now);
            return Ok(());
        }
        client.take();
        client.heard = now;
        match packet {
            Ok(packet) => self.answer(number, &packet, now),
            Err(error) => Err(self.refuse(number, error)),
        }
    }

    /// Handles a malformed packet, which ends the connection, and returns the reason for the end. Answers the packet only if it has another
    /// protocol version.
    fn refuse(&mut self, number: u64, error: PacketError) -> End {
        if let PacketError::Version(_, asked) = error {
            let status = status::UNSUPPORTED;
            let reply = Reply::Version {
                status,
                version: VERSION,
            };
            if let Err(end) = self.send(number, asked, &reply, Attachment::None) {
                return end;
            }
        }
        End::Garbage(error)
    }

    /// Ignores a client, or the listening socket, for the time [`PAUSE`].
    fn pause(&mut self, source: EventSource, now: Instant) {
        if !self.paused.contains(&source) {
            self.paused.push(source);
            self.listen_to(source);
        }
        self.resume_at.get_or_insert(now + PAUSE);
    }

    /// Selects the events of a client or of the listening socket that the system reports.
    fn listen_to(&self, source: EventSource) {
        let (socket, has_queue) = match source {
            EventSource::Client(number) => match self.clients.get(&number) {
                Some(client) => (client.as_fd(), client.has_queue()),
                None => return,
            },
            _ => (self.listener.socket.as_fd(), false),
        };
        let mut flags = epoll::EventFlags::empty();
        flags.set(epoll::EventFlags::IN, !self.paused.contains(&source));
        flags.set(epoll::EventFlags::OUT, has_queue);
        if let Err(error) = epoll::modify(&self.epoll, socket, source.data(), flags) {
            warn!("{source:?} is not listened to: {error}");
        }
    }

    fn write_soon(&mut self, now: Instant) {
        self.write_at.get_or_insert(now + BETWEEN_WRITES);
    }

    fn state(&self) -> Value {
        inspect::state(&self.drivers, &self.config_text, self.clients.len())
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

fn listen_to_udev() -> Option<Udev> {
    match Udev::new() {
        Ok(udev) => Some(udev),
        Err(error) => {
            info!("udev cannot be listened to, and the folder of devices is watched alone: {error}");
            None
        }
    }
}
