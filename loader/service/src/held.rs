//! Requests that must wait for unfinished work (LSV-3, LSV-35), and the decision about their answers.

use crate::drivers::{Drivers, Handed, Lookup};
use crate::package::Class;
use std::rc::Rc;
use std::time::Instant;
use wire::Header;

/// The result that a request waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The request is for the library with this key. If there is a checksum, the library must have this checksum.
    Library(String, Option<String>),
    /// The request is for the list of manifests.
    Manifests {
        /// `true` if the service must delay its answer until no work is pending.
        idle: bool,
        /// Class of the client's program; `None` if the request does not name the class (LSV-50).
        class: Option<Class>,
    },
}

/// A request that waits for its answer.
#[derive(Clone, Debug)]
pub struct Held {
    /// Number of the client that sent the request.
    pub client: u64,
    /// Header of the request.
    pub asked: Header,
    /// The result that the request waits for.
    pub awaited: Awaited,
    /// Time at which the service answers `timeout` if the result is still missing.
    pub until: Instant,
}

/// The outcome of a request.
#[derive(Debug)]
pub enum Answer<L> {
    /// There is no answer yet.
    Wait,
    /// The answer is this library.
    Library(Rc<Handed<L>>),
    /// There is no library for the key.
    NotFound,
    /// The answer is the list of manifests for this class.
    Manifests(Option<Class>),
    /// The time limit is over.
    Timeout,
}

impl Awaited {
    /// Returns the outcome of a request whose time limit is `until`.
    pub fn answer<L>(&self, drivers: &Drivers<L>, now: Instant, until: Instant) -> Answer<L> {
        let late = if now >= until { Answer::Timeout } else { Answer::Wait };
        match self {
            Self::Library(key, _) => match drivers.look_up(now, key) {
                Lookup::Found(library) => Answer::Library(library),
                Lookup::Pending => late,
                Lookup::Absent => Answer::NotFound,
            },
            Self::Manifests { idle, .. } if *idle && drivers.is_pending(now) => late,
            Self::Manifests { class, .. } => Answer::Manifests(*class),
        }
    }

    /// Returns `true` if a library with the checksum `sum` answers this request.
    pub fn is_for(&self, sum: &str) -> bool {
        !matches!(self, Self::Library(_, Some(wanted)) if wanted != sum)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::{Rules, Seen};

    fn text(drivers: &Drivers<()>, awaited: &Awaited, now: Instant, until: Instant) -> String {
        format!("{:?}", awaited.answer(drivers, now, until))
    }

    #[test]
    fn lsv_35_what_is_held_back_is_answered_in_time() {
        let start = Instant::now();
        let until = start + wire::HELD_BACK;
        let mut drivers = Drivers::<()>::new(Rules {
            allow_fallback: false,
            ..Rules::default()
        });
        let manifests = |idle| Awaited::Manifests {
            idle,
            class: Some(Class::Bits64),
        };
        let library = Awaited::Library("0-a.so".into(), None);
        let idle = manifests(true);
        for awaited in [&library, &idle] {
            assert_eq!(text(&drivers, awaited, start, until), "Wait");
            assert_eq!(text(&drivers, awaited, until, until), "Timeout");
        }
        assert_eq!(
            text(&drivers, &manifests(false), start, until),
            "Manifests(Some(Bits64))"
        );
        drivers.devices_seen(start, Vec::<Seen>::new());
        assert_eq!(text(&drivers, &library, start, until), "NotFound");
        assert_eq!(text(&drivers, &idle, start, until), "Manifests(Some(Bits64))");
    }
}
