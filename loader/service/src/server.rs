//! The loop: one thread that serves all clients, hears of devices and packages, and never waits for anything but all of them at once.

mod requests;

use crate::client::{Buffer, Client, End, Incoming, Kind};
use crate::config::Config;
use crate::drivers::{Drivers, State};
use crate::held::{Held, KIND};
use crate::inspect::{self, Debug};
use crate::json::Json;
use crate::library::{Library, Memory, Text};
use crate::limits;
use crate::package::Class;
use crate::reader::Step;
use crate::socket::Listener;
use crate::watch::{self, DeviceFolder, FolderWatch, Udev};
use crate::worker::{Report, Workers};
use rustix::event::{Timespec, epoll};
use rustix::fd::{AsFd, OwnedFd};
use rustix::io::Errno;
use rustix::net::SocketFlags;
use std::collections::BTreeMap;
use std::io;
use std::mem::MaybeUninit;
use std::rc::Rc;
use std::sync::Arc;
use std::time::{Duration, Instant};
use tracing::{debug, info, warn};

/// Events that are taken at once.
const EVENTS: usize = 64;
/// Packets of one client that are answered before others get their turn.
const TURN: usize = 16;
/// Time between two looks at the devices, however often something changes.
const BETWEEN_SCANS: Duration = Duration::from_millis(50);
/// How long changes of the state are collected before it is written.
const BETWEEN_WRITES: Duration = Duration::from_millis(100);

/// What a descriptor in the loop is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Listener,
    Workers,
    Devices,
    Udev,
    Packages,
    Client(u64),
}

impl Source {
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

/// The service.
pub struct Server {
    config: Config,
    config_text: Json,
    drivers: Drivers<Library>,
    epoll: OwnedFd,
    listener: Listener,
    workers: Workers,
    devices: DeviceFolder,
    udev: Option<Udev>,
    packages: Arc<FolderWatch>,
    clients: BTreeMap<u64, Client>,
    next_client: u64,
    held: Vec<Held>,
    /// The manifests for each class, as they were last sent.
    texts: BTreeMap<Option<ClassKey>, (u64, Rc<Text>, usize)>,
    /// What watching clients know.
    told: u64,
    scan_at: Option<Instant>,
    /// When connections are accepted again after there was no descriptor left.
    accept_at: Option<Instant>,
    write_at: Option<Instant>,
    debug: Option<Debug>,
    /// This process's user.
    user: u32,
}

/// A class as a key.
type ClassKey = bool;

fn class_key(class: Option<Class>) -> Option<ClassKey> {
    class.map(|class| class == Class::Bits64)
}

impl Server {
    /// Opens everything that the loop needs. From then on the process can give up what it needs no more.
    ///
    /// # Errors
    /// What the system says.
    pub fn new(config: Config, listener: Listener) -> io::Result<Self> {
        let packages = Arc::new(FolderWatch::new()?);
        let reader = crate::reader::Reader {
            roots: config.roots.clone(),
            owner: crate::package::Owner::ROOT,
            hand_out: config.libraries,
            memory: Memory::default(),
        };
        for root in &config.roots {
            packages.add(root);
        }
        let udev = if config.udev { listen_to_udev() } else { None };
        let now = Instant::now();
        let server = Self {
            config_text: config.json(),
            drivers: Drivers::new(config.rules.clone()),
            epoll: epoll::create(epoll::CreateFlags::CLOEXEC)?,
            listener,
            workers: Workers::start(reader, packages.clone())?,
            devices: DeviceFolder::new(&config.dri)?,
            udev,
            packages,
            clients: BTreeMap::new(),
            next_client: 0,
            held: Vec::new(),
            texts: BTreeMap::new(),
            told: 0,
            scan_at: Some(now),
            accept_at: None,
            write_at: Some(now),
            debug: open_debug(&config),
            user: rustix::process::geteuid().as_raw(),
            config,
        };
        server.add(&server.listener.socket, Source::Listener)?;
        server.add(&server.workers, Source::Workers)?;
        server.add(&server.devices, Source::Devices)?;
        server.add(&server.packages, Source::Packages)?;
        if let Some(udev) = &server.udev {
            server.add(udev, Source::Udev)?;
        }
        Ok(server)
    }

    fn add(&self, what: impl AsFd, source: Source) -> io::Result<()> {
        Ok(epoll::add(&self.epoll, what, source.data(), epoll::EventFlags::IN)?)
    }

    /// Serves until the process ends.
    ///
    /// # Errors
    /// What the system says, of the loop itself and not of a client.
    pub fn run(mut self) -> io::Result<()> {
        loop {
            self.settle(Instant::now());
            let timeout = self.next().map(|at| at.saturating_duration_since(Instant::now()));
            let mut space = [MaybeUninit::uninit(); EVENTS];
            let events = match epoll::wait(&self.epoll, &mut space, timeout.and_then(timespec).as_ref()) {
                Ok((events, _)) => events,
                Err(Errno::INTR) => continue,
                Err(error) => return Err(error.into()),
            };
            let events: Vec<_> = events
                .iter()
                .filter_map(|event| Some((Source::of(event)?, event.flags)))
                .collect();
            for (source, flags) in events {
                self.handle(source, flags);
            }
        }
    }

    fn handle(&mut self, source: Source, flags: epoll::EventFlags) {
        let now = Instant::now();
        match source {
            Source::Listener => self.accept(now),
            Source::Workers => self.take_reports(now),
            Source::Devices => {
                if self.devices.has_changed() {
                    self.scan_soon(now);
                }
            }
            Source::Udev => {
                if self.udev.as_ref().is_some_and(Udev::has_changed) {
                    self.scan_soon(now);
                }
            }
            Source::Packages => {
                if self.packages.has_changed() {
                    self.packages_changed(now);
                }
            }
            Source::Client(number) => self.serve(number, flags, now),
        }
    }

    fn scan_soon(&mut self, now: Instant) {
        self.scan_at.get_or_insert(now + BETWEEN_SCANS);
    }

    fn packages_changed(&mut self, now: Instant) {
        // A folder that appeared is watched itself from now on.
        for root in &self.config.roots {
            self.packages.add(root);
        }
        self.drivers.packages_touched(now);
    }

    /// Does what is due, and tells clients what came of it.
    fn settle(&mut self, now: Instant) {
        if self.scan_at.is_some_and(|at| at <= now) {
            self.scan_at = None;
            let seen = watch::scan(&self.config.dri, &self.config.sys);
            self.drivers.devices_seen(now, seen);
            self.write_soon(now);
        }
        if self.accept_at.is_some_and(|at| at <= now) && self.add(&self.listener.socket, Source::Listener).is_ok() {
            self.accept_at = None;
        }
        let before = self.drivers.generation();
        self.drivers.advance(now);
        for job in self.drivers.take_jobs() {
            debug!("job: {job:?}");
            self.workers.give(job);
        }
        if before != self.drivers.generation() {
            self.write_soon(now);
        }
        self.tell_watchers(now);
        self.answer_held(now);
        if self.write_at.is_some_and(|at| at <= now) {
            self.write_at = None;
            self.write_state();
        }
    }

    /// When there is something to do although nothing happened.
    fn next(&self) -> Option<Instant> {
        let now = Instant::now();
        let held = self.held.iter().flat_map(|held| {
            let kind = self.clients.get(&held.client).map(|client| client.kind_until);
            [Some(held.until), kind.filter(|at| *at > now)]
        });
        let own = [self.drivers.next(now), self.scan_at, self.write_at, self.accept_at];
        own.into_iter().chain(held).flatten().min()
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
                Report::Class { client, class } => {
                    if let Some(client) = self.clients.get_mut(&client) {
                        client.kind = Kind::Known(class);
                    }
                }
                Report::Discarded { client: number } => self.resume(number, now),
            }
        }
        self.write_soon(now);
    }

    fn accept(&mut self, now: Instant) {
        for _ in 0..EVENTS {
            if self.workers.is_crowded() {
                info!("no connection is accepted: descriptors that clients sent cannot be closed");
                return self.accept_later(now);
            }
            let flags = SocketFlags::CLOEXEC | SocketFlags::NONBLOCK;
            let socket = match rustix::net::accept_with(&self.listener.socket, flags) {
                Ok(socket) => socket,
                Err(Errno::INTR | Errno::CONNABORTED) => continue,
                Err(Errno::AGAIN) => return,
                Err(error) => {
                    warn!("a connection cannot be accepted: {error}");
                    return self.accept_later(now);
                }
            };
            if let Err(error) = self.admit(socket, now) {
                debug!("a client is refused: {error}");
            }
        }
    }

    /// Leaves the listening socket alone for a moment: it would be ready for as long as nothing changes.
    fn accept_later(&mut self, now: Instant) {
        if epoll::delete(&self.epoll, &self.listener.socket).is_ok() {
            self.accept_at = Some(now + BETWEEN_WRITES);
        }
    }

    /// Makes a client of a connection, or closes it.
    fn admit(&mut self, socket: OwnedFd, now: Instant) -> io::Result<()> {
        let mut client = Client::new(socket, now, now + KIND)?;
        let users = self.clients.values().map(|client| client.peer.user);
        if !limits::admits(users, client.peer.user) {
            let user = client.peer.user;
            self.workers.close(client.into_socket());
            return Err(io::Error::other(format!("user {user} or all have enough")));
        }
        let number = self.next_client;
        let is_asked = client
            .peer
            .process
            .is_some_and(|process| self.workers.ask_class(number, process));
        if !is_asked {
            client.kind = Kind::Known(None);
        }
        if let Err(error) = self.add(&client, Source::Client(number)) {
            self.workers.close(client.into_socket());
            return Err(error);
        }
        debug!("client {number}: {:?}", client.peer);
        self.next_client += 1;
        self.clients.insert(number, client);
        self.write_soon(now);
        Ok(())
    }

    fn serve(&mut self, number: u64, flags: epoll::EventFlags, now: Instant) {
        let mut result = Ok(());
        if flags.contains(epoll::EventFlags::OUT)
            && let Some(client) = self.clients.get_mut(&number)
        {
            result = client.flush();
            self.await_room(number);
        }
        if result.is_ok() {
            result = self.receive(number, now);
        }
        if let Err(end) = result {
            self.close(number, &end, now);
        }
    }

    fn receive(&mut self, number: u64, now: Instant) -> Result<(), End> {
        let mut buffer = Buffer::default();
        for _ in 0..TURN {
            let client = self.clients.get(&number).filter(|client| !client.is_discarding);
            let Some(client) = client else { return Ok(()) };
            match client.receive(&mut buffer)? {
                Incoming::Packet(packet) => self.answer(number, &packet, false, now)?,
                Incoming::WithDescriptors(packet) => {
                    self.answer(number, &packet, true, now)?;
                    self.pause(number);
                }
                Incoming::Nothing => return Ok(()),
            }
        }
        Ok(())
    }

    /// Leaves a client alone until its packet with descriptors is gone.
    fn pause(&mut self, number: u64) {
        let Some(client) = self.clients.get_mut(&number) else {
            return;
        };
        client.is_discarding = true;
        // Also of its end nothing is to be heard meanwhile.
        if let Err(error) = epoll::delete(&self.epoll, &*client) {
            warn!("client {number}: {error}");
        }
        self.workers.discard(number, client.socket());
    }

    /// Listens to a client again.
    fn resume(&mut self, number: u64, now: Instant) {
        let Some(client) = self.clients.get_mut(&number) else {
            return;
        };
        client.is_discarding = false;
        let added = epoll::add(
            &self.epoll,
            &*client,
            Source::Client(number).data(),
            epoll::EventFlags::IN,
        );
        let result = added
            .map_err(|error| End::Failed(error.into()))
            .and_then(|()| client.flush());
        match result {
            Ok(()) => self.await_room(number),
            Err(end) => self.close(number, &end, now),
        }
    }

    /// Asks to be told when a client takes packets again, or no longer.
    fn await_room(&self, number: u64) {
        let client = self.clients.get(&number).filter(|client| !client.is_discarding);
        let Some(client) = client else { return };
        let mut flags = epoll::EventFlags::IN;
        if client.has_queue() {
            flags |= epoll::EventFlags::OUT;
        }
        if let Err(error) = epoll::modify(&self.epoll, client, Source::Client(number).data(), flags) {
            warn!("client {number}: {error}");
        }
    }

    fn close(&mut self, number: u64, end: &End, now: Instant) {
        match end {
            End::Closed | End::Reset => debug!("client {number} is gone"),
            End::Garbage(error) => info!("client {number} is closed: it sent {error}"),
            End::Slow => info!("client {number} is closed: it does not read what it is sent"),
            End::Failed(error) => info!("client {number} is closed: {error}"),
        }
        if let Some(client) = self.clients.remove(&number) {
            self.workers.close(client.into_socket());
        }
        self.held.retain(|held| held.client != number);
        self.write_soon(now);
    }

    fn write_soon(&mut self, now: Instant) {
        self.write_at.get_or_insert(now + BETWEEN_WRITES);
    }

    fn state(&self) -> Json {
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
    // A little late is not too early once more.
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

fn open_debug(config: &Config) -> Option<Debug> {
    let folder = config.run.join("debug");
    match Debug::new(&folder) {
        Ok(debug) => Some(debug),
        Err(error) => {
            warn!("the state is not written to {}: {error}", folder.display());
            None
        }
    }
}
