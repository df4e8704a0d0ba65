//! The present devices. A device becomes usable when it has been present for the settling time (LSV-25).

use super::rules::Identity;
use std::collections::BTreeMap;
use std::time::{Duration, Instant};

/// Time for which the service ignores a new node, because the system sets the permissions of a node after it creates the node.
pub const SETTLE: Duration = Duration::from_millis(200);

/// A device node that a scan of the folder of device nodes found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Name of the node, for example `renderD128`.
    pub node: String,
    /// The device's identity.
    pub identity: Identity,
    /// Time since the node last changed, according to the file system.
    pub age: Duration,
}

/// A known device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    /// The device's identity.
    pub identity: Identity,
    /// Time from which the service uses the device.
    usable_at: Instant,
}

/// Returns `true` if the service watches files of this name: `renderD` and a number.
pub fn is_node(name: &str) -> bool {
    let number = name.strip_prefix("renderD").unwrap_or_default();
    (1..=10).contains(&number.len()) && number.bytes().all(|byte| byte.is_ascii_digit())
}

/// All devices.
#[derive(Debug, Default)]
pub(super) struct Devices {
    /// The devices, by the number in the node's name and by the name itself.
    nodes: BTreeMap<(u64, String), Device>,
    /// `true` after the first scan for devices.
    scanned: bool,
}

impl Devices {
    /// Records the result of a scan. The time `usable_at` of a known device changes only if the device's identity has changed.
    pub(super) fn seen(&mut self, now: Instant, found: Vec<Seen>) {
        self.scanned = true;
        let mut nodes = BTreeMap::new();
        for Seen { node, identity, age } in found {
            let key = (number(&node), node);
            let before = self.nodes.remove(&key).filter(|device| device.identity == identity);
            let device = before.unwrap_or_else(|| Device {
                identity,
                usable_at: now + SETTLE.saturating_sub(age),
            });
            nodes.insert(key, device);
        }
        self.nodes = nodes;
    }

    /// Returns the usable devices, each with its node.
    pub(super) fn usable(&self, now: Instant) -> impl Iterator<Item = (&str, &Device)> {
        let all = self.nodes.iter().map(|((_, node), device)| (node.as_str(), device));
        all.filter(move |(_, device)| device.usable_at <= now)
    }

    /// Returns `true` if the first scan is still pending, or a device is still too new (LSV-4).
    pub(super) fn are_pending(&self, now: Instant) -> bool {
        !self.scanned || self.next_usable(now).is_some()
    }

    /// Returns the time at which the next device can be used.
    pub(super) fn next_usable(&self, now: Instant) -> Option<Instant> {
        self.nodes
            .values()
            .map(|device| device.usable_at)
            .filter(|at| *at > now)
            .min()
    }
}

fn number(node: &str) -> u64 {
    node.trim_start_matches("renderD").parse().unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(node: &str, age: u64) -> Seen {
        Seen {
            node: node.to_owned(),
            identity: Identity::default(),
            age: Duration::from_millis(age),
        }
    }

    #[test]
    fn lsv_25_only_render_nodes_count() {
        for name in ["renderD128", "renderD0", "renderD4294967295"] {
            assert!(is_node(name), "{name}");
        }
        for name in [
            "card0",
            "renderD",
            "renderD12x",
            "renderD-1",
            "by-path",
            "xrenderD1",
            "renderD12345678901",
        ] {
            assert!(!is_node(name), "{name}");
        }
    }

    #[test]
    fn lsv_25_a_new_node_settles_and_an_old_one_does_not() {
        let start = Instant::now();
        let at = |milliseconds| start + Duration::from_millis(milliseconds);
        let mut devices = Devices::default();
        assert!(devices.are_pending(start));
        devices.seen(start, vec![seen("renderD129", 0), seen("renderD128", 60_000)]);
        let usable = |devices: &Devices, now| devices.usable(now).map(|(node, _)| node.to_owned()).collect::<Vec<_>>();
        assert_eq!(usable(&devices, start), ["renderD128"]);
        assert!(devices.are_pending(at(199)));
        assert_eq!(devices.next_usable(start), Some(at(200)));
        // A second scan does not change the time from which the device is usable.
        devices.seen(at(150), vec![seen("renderD129", 0), seen("renderD128", 60_000)]);
        assert_eq!(usable(&devices, at(200)), ["renderD128", "renderD129"]);
        assert!(!devices.are_pending(at(200)));
        // A device that disappeared and reappeared is treated as new.
        devices.seen(at(300), vec![]);
        devices.seen(at(310), vec![seen("renderD129", 0)]);
        assert!(usable(&devices, at(400)).is_empty());
        assert_eq!(usable(&devices, at(510)), ["renderD129"]);
    }

    #[test]
    fn lsv_25_devices_come_in_the_order_of_their_numbers() {
        let now = Instant::now();
        let mut devices = Devices::default();
        devices.seen(
            now,
            ["renderD1000", "renderD128", "renderD13"]
                .map(|node| seen(node, 1000))
                .to_vec(),
        );
        let nodes: Vec<_> = devices.usable(now).map(|(node, _)| node).collect();
        assert_eq!(nodes, ["renderD13", "renderD128", "renderD1000"]);
    }
}
