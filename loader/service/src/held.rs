//! Requests whose answers depend on what is still going on (LSV-3, LSV-35): when each is answered, and how.

use crate::client::Kind;
use crate::drivers::{Driver, Drivers, Lookup};
use crate::package::Class;
use std::rc::Rc;
use std::time::{Duration, Instant};
use wire::Header;

/// How long a client's program is waited for, before it sees the manifests of all classes.
pub const KIND: Duration = Duration::from_millis(500);

/// What a client waits for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Awaited {
    /// The library with this key.
    Library(String),
    /// The manifests.
    Manifests {
        /// Whether not before nothing is pending.
        idle: bool,
    },
}

/// A request that is held back.
#[derive(Clone, Debug)]
pub struct Held {
    /// The number of the client.
    pub client: u64,
    /// The header of the request.
    pub asked: Header,
    /// What it waits for.
    pub awaited: Awaited,
    /// When it is answered at the latest.
    pub until: Instant,
}

/// What a request comes to.
#[derive(Debug)]
pub enum Answer<L> {
    /// Nothing yet.
    Wait,
    /// This library.
    Library(Rc<Driver<L>>),
    /// There is no such library.
    NotFound,
    /// The manifests for this class.
    Manifests(Option<Class>),
    /// It took too long.
    Timeout,
}

impl Awaited {
    /// What a request comes to that is held back until `until` at most, from a client of which this is known until `kind_until`.
    pub fn answer<L>(
        &self,
        drivers: &Drivers<L>,
        now: Instant,
        until: Instant,
        (kind, kind_until): (Kind, Instant),
    ) -> Answer<L> {
        let late = if now >= until { Answer::Timeout } else { Answer::Wait };
        match self {
            Self::Library(key) => match drivers.look_up(now, key) {
                Lookup::Found(driver) => Answer::Library(driver),
                Lookup::Pending => late,
                Lookup::Absent => Answer::NotFound,
            },
            Self::Manifests { idle } if *idle && drivers.is_pending(now) => late,
            Self::Manifests { .. } => match kind {
                Kind::Known(class) => Answer::Manifests(class),
                Kind::Asked if now >= kind_until => Answer::Manifests(None),
                Kind::Asked => Answer::Wait,
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::{Rules, Seen};

    const KNOWN: Kind = Kind::Known(Some(Class::Bits64));

    fn text(drivers: &Drivers<()>, awaited: &Awaited, now: Instant, until: Instant, kind: (Kind, Instant)) -> String {
        format!("{:?}", awaited.answer(drivers, now, until, kind))
    }

    #[test]
    fn lsv_35_what_is_held_back_is_answered_in_time() {
        let start = Instant::now();
        let until = start + wire::HELD_BACK;
        let mut drivers = Drivers::<()>::new(Rules {
            allow_fallback: false,
            ..Rules::default()
        });
        let library = Awaited::Library("0-a.so".into());
        let idle = Awaited::Manifests { idle: true };
        let at_once = Awaited::Manifests { idle: false };
        for awaited in [&library, &idle] {
            assert_eq!(text(&drivers, awaited, start, until, (KNOWN, start)), "Wait");
            assert_eq!(text(&drivers, awaited, until, until, (KNOWN, start)), "Timeout");
        }
        assert_eq!(
            text(&drivers, &at_once, start, until, (KNOWN, start)),
            "Manifests(Some(Bits64))"
        );
        drivers.devices_seen(start, Vec::<Seen>::new());
        assert_eq!(text(&drivers, &library, start, until, (KNOWN, start)), "NotFound");
        assert_eq!(
            text(&drivers, &idle, start, until, (KNOWN, start)),
            "Manifests(Some(Bits64))"
        );
    }

    #[test]
    fn lsv_50_the_class_of_a_client_is_waited_for_but_not_for_long() {
        let start = Instant::now();
        let mut drivers = Drivers::<()>::new(Rules::default());
        drivers.devices_seen(start, vec![]);
        let at_once = Awaited::Manifests { idle: false };
        let until = start + wire::HELD_BACK;
        let kind = (Kind::Asked, start + KIND);
        assert_eq!(text(&drivers, &at_once, start, until, kind), "Wait");
        assert_eq!(text(&drivers, &at_once, start + KIND, until, kind), "Manifests(None)");
    }
}
