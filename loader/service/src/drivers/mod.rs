//! The service's decisions, without access to files or sockets: the usable devices, the packages that they need, the driver of each device
//! (LSV-10 to LSV-13), and the published list. Callers pass observations and the time, and carry out the returned jobs.

mod devices;
mod packages;
mod rules;

#[cfg(test)]
mod tests;

pub use devices::{Device, SETTLE, Seen, is_node};
pub use packages::{COLLECT, Driver, Handed, Instance, Job, KEPT, Loaded, Read, State};
pub use rules::{Identity, Rule, Rules};

use crate::package::Class;
use devices::Devices;
use packages::Packages;
use std::collections::BTreeSet;
use std::rc::Rc;
use std::time::Instant;

/// A device and the driver that serves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Served {
    /// Node of the device.
    pub node: String,
    /// The device's identity.
    pub identity: Identity,
    /// The packages for the device: those for 64-bit programs, in order of preference, and then those for 32-bit programs.
    pub packages: Vec<String>,
    /// Numbers of the instances that serve the device: at most one for each word size.
    pub active: Vec<u64>,
}

/// The result of a look-up by key (LSV-3).
#[derive(Debug)]
pub enum Lookup<L> {
    /// The library for the key.
    Found(Rc<Handed<L>>),
    /// The answer depends on work that is not finished.
    Pending,
    /// There is no library for the key.
    Absent,
}

/// The state of the service. `L` is the type of a library.
#[derive(Debug)]
pub struct Drivers<L> {
    rules: Rules,
    devices: Devices,
    packages: Packages<L>,
    served: Vec<Served>,
    published: Vec<Rc<Driver<L>>>,
    /// Number that increases with each change of the published list.
    generation: u64,
    /// `true` if a driver has been ready at some time.
    was_ready: bool,
}

impl<L> Drivers<L> {
    /// Creates the state before the first scan of the devices.
    pub fn new(rules: Rules) -> Self {
        Self {
            rules,
            devices: Devices::default(),
            packages: Packages::default(),
            served: Vec::new(),
            published: Vec::new(),
            generation: 0,
            was_ready: false,
        }
    }

    /// Records the result of a scan of the devices.
    pub fn devices_seen(&mut self, now: Instant, found: Vec<Seen>) {
        self.devices.seen(now, found);
        self.advance(now);
    }

    /// Notes that a folder of packages has changed.
    pub fn packages_touched(&mut self, now: Instant) {
        self.packages.touched(now);
    }

    /// Records the result of a job for a package; `None` if the package has not changed.
    pub fn package_finished(&mut self, now: Instant, package: &str, read: Option<Read<L>>) {
        self.packages.finished(now, package, read);
        self.advance(now);
    }

    /// Removes and returns the jobs that were added since the last call.
    pub fn take_jobs(&mut self) -> Vec<Job> {
        self.packages.take_jobs()
    }

    /// Applies the changes that are due at `now`, and chooses the driver of each device again.
    pub fn advance(&mut self, now: Instant) {
        self.packages.recheck(now);
        let usable = self.devices.usable(now).map(|(node, device)| Served {
            node: node.to_owned(),
            identity: device.identity.clone(),
            packages: Vec::new(),
            active: Vec::new(),
        });
        self.served = usable.collect();
        let mut needed = BTreeSet::new();
        let drivers = [Class::Bits64, Class::Bits32].map(|class| self.choose(class, now, &mut needed));
        self.packages.release(now, &|package| needed.contains(package));
        self.publish(drivers.concat());
    }

    /// Chooses the driver of each device for programs of a class, and returns the drivers. Adds each visited package to `needed`.
    fn choose(&mut self, class: Class, now: Instant, needed: &mut BTreeSet<String>) -> Vec<Rc<Driver<L>>> {
        let mut drivers = Vec::new();
        let mut is_blocked = false;
        for served in &mut self.served {
            let packages = self.rules.packages(&served.identity, class);
            let choice = self.packages.first_usable(&packages, needed);
            is_blocked |= choice.is_err();
            let (active, driver) = choice.ok().flatten().unzip();
            served.packages.extend(packages);
            served.active.extend(active);
            drivers.extend(driver);
        }
        // Clients usually choose the first device. Therefore, the software driver is not published while another driver may still become
        // ready (LSV-13).
        if drivers.is_empty() && !is_blocked && !self.devices.are_pending(now) {
            let fallback = self.rules.fallback(class);
            let choice = self.packages.first_usable(fallback.as_slice(), needed);
            drivers.extend(choice.ok().flatten().map(|(_, driver)| driver));
        }
        drivers
    }

    fn publish(&mut self, drivers: Vec<Rc<Driver<L>>>) {
        let mut published: Vec<Rc<Driver<L>>> = Vec::new();
        for driver in drivers {
            if !published.iter().any(|one| Rc::ptr_eq(one, &driver)) {
                published.push(driver);
            }
        }
        let is_same = published.len() == self.published.len()
            && published
                .iter()
                .zip(&self.published)
                .all(|(new, old)| Rc::ptr_eq(new, old));
        if !is_same {
            self.generation += 1;
            self.was_ready |= !published.is_empty();
            self.published = published;
        }
    }

    /// Returns `true` if the published list may still change without a further change of a device or file (LSV-4).
    pub fn is_pending(&self, now: Instant) -> bool {
        self.devices.are_pending(now) || self.packages.are_pending()
    }

    /// Returns the library with a key.
    pub fn look_up(&self, now: Instant, key: &str) -> Lookup<L> {
        match self.packages.by_key(key) {
            Some(library) => Lookup::Found(library.clone()),
            None if self.is_pending(now) => Lookup::Pending,
            None => Lookup::Absent,
        }
    }

    /// Returns the published drivers for clients of a class, in the order of the devices; all published drivers if the class is unknown
    /// (LSV-50).
    pub fn published_for(&self, class: Option<Class>) -> impl Iterator<Item = &Rc<Driver<L>>> {
        let fits = move |driver: &&Rc<Driver<L>>| class.is_none_or(|class| class == driver.class);
        self.published.iter().filter(fits)
    }

    /// Returns a number that increases with each change of the published list.
    pub fn generation(&self) -> u64 {
        self.generation
    }

    /// Returns the devices that are used, each with its driver.
    pub fn served(&self) -> &[Served] {
        &self.served
    }

    /// Returns each package that is needed or was needed recently, with its instance.
    pub fn instances(&self) -> impl Iterator<Item = (&str, &Instance<L>)> {
        self.packages.instances()
    }

    /// Returns `true` if a driver has been ready at some time (LSV-44).
    pub fn was_ready(&self) -> bool {
        self.was_ready
    }

    /// Returns the time at which [`Drivers::advance`] must run again, even without an event.
    pub fn next(&self, now: Instant) -> Option<Instant> {
        self.devices
            .next_usable(now)
            .into_iter()
            .chain(self.packages.next())
            .min()
    }
}
