//! Tests of the client on a simulated system: its requests, their order, and the handles that it closes.

use super::*;
use alloc::collections::BTreeSet;
use alloc::string::{String, ToString};
use alloc::vec;
use core::cell::RefCell;

/// Answer of the service to a request.
type Reply = Result<(Vec<u8>, usize), Status>;

/// A system that records its calls and open handles.
#[derive(Default)]
struct Fake {
    refuses_connection: bool,
    replies: RefCell<Vec<Reply>>,
    map_fails: bool,
    driver_says: Option<i32>,
    steps: RefCell<Vec<String>>,
    open: RefCell<BTreeSet<Handle>>,
    made: RefCell<Handle>,
}

const SERVICE: Handle = 1;

impl Fake {
    fn replying(replies: Vec<Reply>) -> Self {
        Self {
            replies: RefCell::new(replies),
            ..Self::default()
        }
    }

    fn note(&self, step: &str) {
        self.steps.borrow_mut().push(step.to_string());
    }

    fn handle(&self) -> Handle {
        *self.made.borrow_mut() += 1;
        let handle = *self.made.borrow();
        self.open.borrow_mut().insert(handle);
        handle
    }

    fn take(&self, handle: Handle) {
        assert!(self.open.borrow_mut().remove(&handle), "handle {handle} is open");
    }

    fn steps(&self) -> Vec<String> {
        self.steps.take()
    }
}

impl Kernel for Fake {
    fn connect(&self) -> Result<Handle, Status> {
        self.note("connect");
        if self.refuses_connection {
            Err(-24)
        } else {
            Ok(self.handle())
        }
    }

    fn call(
        &self,
        service: Handle,
        request: &[u8],
        answer: &mut [u8],
        handles: &mut [Handle],
    ) -> Result<(usize, usize), Status> {
        assert_eq!(service, SERVICE);
        self.note(match request.len() {
            16 => "features",
            _ => "get",
        });
        let (bytes, count) = self.replies.borrow_mut().remove(0)?;
        let written = bytes.len().min(answer.len());
        answer[..written].copy_from_slice(&bytes[..written]);
        handles
            .iter_mut()
            .take(count)
            .for_each(|handle| *handle = self.handle());
        Ok((bytes.len(), count))
    }

    fn send(&self, service: Handle, message: &[u8], handle: Handle) -> Result<(), Status> {
        assert_eq!((service, message.len()), (SERVICE, 24));
        self.note("send");
        self.take(handle);
        Ok(())
    }

    fn channel(&self) -> Result<[Handle; 2], Status> {
        Ok([self.handle(), self.handle()])
    }

    fn close(&self, handle: Handle) {
        self.take(handle);
    }

    fn map(&self, memory: Handle) -> Result<Opened, Vec<u8>> {
        assert!(self.open.borrow().contains(&memory));
        self.note("map");
        if self.map_fails {
            Err(b"no code".to_vec())
        } else {
            Ok(LIBRARY)
        }
    }

    fn initialize(&self, driver: Opened) -> Option<i32> {
        assert_eq!(driver, LIBRARY);
        self.note("initialize");
        self.driver_says
    }

    fn bind(&self, path: &CStr, folder: Handle) -> Result<(), Status> {
        self.note(&format!("bind {}", path.to_str().unwrap()));
        self.take(folder);
        Ok(())
    }

    fn open(&self, folder: Option<Handle>, path: &CStr, channel: Handle) -> Result<(), Status> {
        self.note(&format!("open {} {}", folder.is_some(), path.to_str().unwrap()));
        self.take(channel);
        Ok(())
    }
}

const LIBRARY: Opened = Opened(NonNull::dangling());

/// Returns an answer with the method of the request `method`, the word `word` and `handles` handles.
fn reply(method: &Message, word: u64, handles: usize) -> Reply {
    let bytes = [&method.bytes()[..16], &word.to_le_bytes()].concat();
    Ok((bytes, handles))
}

fn found() -> Reply {
    reply(&wire::get(b"").unwrap(), 0xFFFF_FFFF, 1)
}

fn features(bits: u64) -> Reply {
    reply(&wire::supported_features(), bits, 0)
}

/// LSV-23, LSV-5: the callback runs before any other function of the driver, a library that is open is not requested again, and all
/// requests use one connection.
#[test]
fn lsv_23_the_callback_comes_before_all_else_and_libraries_are_kept() {
    for says in [None, Some(0)] {
        let client = Client::new(Fake {
            driver_says: says,
            ..Fake::replying(vec![found(), found()])
        });
        assert_eq!(client.driver(b"0-a"), Ok(LIBRARY));
        assert_eq!(client.kernel.steps(), ["connect", "get", "map", "initialize"]);
        assert_eq!(client.driver(b"0-a"), Ok(LIBRARY));
        assert_eq!(
            client.kernel.steps(),
            [""; 0],
            "a library that is open is not requested again"
        );
        assert_eq!(client.layer(b"layer"), Ok(LIBRARY));
        assert_eq!(
            client.kernel.steps(),
            ["get", "map"],
            "one connection, and no callback for layers"
        );
        let open: Vec<Handle> = client.kernel.open.take().into_iter().collect();
        assert_eq!(
            open,
            [SERVICE],
            "the handle of the memory is closed after the library is mapped"
        );
    }
}

#[test]
fn lsv_23_a_driver_that_refuses_the_callback_is_not_used() {
    let client = Client::new(Fake {
        driver_says: Some(-3),
        ..Fake::replying(vec![found()])
    });
    assert_eq!(client.driver(b"0-a"), Err(Failure::Refused(-3)));
    assert_eq!(client.driver(b"0-a"), Err(Failure::Refused(-3)));
    assert_eq!(client.kernel.steps().len(), 4, "the service is asked once");
}

#[test]
fn lsv_22_each_failure_names_its_step() {
    let get = || wire::get(b"").unwrap();
    let malformed = [
        reply(&get(), 0, 1),
        reply(&get(), 0xFFFF_FFFF, 3),
        reply(&get(), 0xFFFF_FFFF, 0),
        reply(&wire::supported_features(), 0, 0),
        Ok((vec![], 2)),
        Ok((vec![0xFF; 1000], 4)),
    ];
    let mut cases = vec![
        (Err(-24), "the call of the loader service failed (status -24)"),
        (reply(&get(), 0, 0), "the loader service has no such library"),
    ];
    cases.extend(malformed.map(|reply| (reply, "the answer of the loader service is malformed")));
    for (reply, words) in cases {
        let shown = format!("{reply:?}");
        let client = Client::new(Fake::replying(vec![reply]));
        assert_eq!(client.driver(b"0-a").unwrap_err().to_string(), words, "{shown}");
        let open: Vec<Handle> = client.kernel.open.take().into_iter().collect();
        assert_eq!(open, [SERVICE], "{shown}");
    }
    let client = Client::new(Fake {
        map_fails: true,
        ..Fake::replying(vec![found()])
    });
    let words = "the library of the loader service was not mapped: no code";
    assert_eq!(client.layer(b"a").unwrap_err().to_string(), words);
    assert_eq!(client.kernel.open.take().len(), 1);
    let client = Client::new(Fake {
        refuses_connection: true,
        ..Fake::default()
    });
    for _ in 0..2 {
        let words = "no connection to the loader service (status -24)";
        assert_eq!(client.driver(b"a").unwrap_err().to_string(), words);
    }
    assert_eq!(client.kernel.steps(), ["connect"], "the client connects once");
    let words = "the loader service takes names of 64 bytes";
    assert_eq!(client.driver(&[b'x'; 65]).unwrap_err().to_string(), words);
}

#[test]
fn lsv_2_the_folder_of_manifests_is_bound_once() {
    let client = Client::new(Fake::replying(vec![features(0xF5)]));
    for _ in 0..2 {
        assert_eq!(client.manifests(), Some(MANIFESTS));
    }
    assert_eq!(
        client.kernel.steps(),
        ["connect", "features", "send", "bind /loader-manifests"]
    );
    let lacking = [features(3), Err(-24), Ok((vec![1, 2, 3], 4))];
    for reply in lacking {
        let client = Client::new(Fake::replying(vec![reply]));
        for _ in 0..2 {
            assert_eq!(client.manifests(), None);
        }
        assert_eq!(client.kernel.steps(), ["connect", "features"]);
        assert_eq!(client.kernel.open.take().len(), 1);
    }
}

#[test]
fn lsv_23_names_of_devices_lead_to_their_folder() {
    let client = Client::new(Fake::replying(vec![features(2)]));
    for name in [
        c"/svc/a",
        c"/loader-gpu-devices",
        c"/loader-gpu-devices2/a",
        c"/loader-gpu-devices/",
    ] {
        let channel = client.kernel.handle();
        assert_eq!(client.open_in_namespace(name, channel), Ok(()));
        let expected = format!("open false {}", name.to_str().unwrap());
        assert_eq!(client.kernel.steps(), [expected]);
    }
    let client = Client::new(Fake::replying(vec![features(2)]));
    assert_eq!(client.service(), Ok(SERVICE));
    client.kernel.steps();
    for expected in [
        &["features", "send", "open true class/gpu/000"][..],
        &["open true class/gpu/000"],
    ] {
        let channel = client.kernel.handle();
        let name = c"/loader-gpu-devices/class/gpu/000";
        assert_eq!(client.open_in_namespace(name, channel), Ok(()));
        assert_eq!(client.kernel.steps(), expected);
    }
    let client = Client::new(Fake::replying(vec![features(0)]));
    assert_eq!(client.service(), Ok(SERVICE));
    let channel = client.kernel.handle();
    let refused = client.open_in_namespace(c"/loader-gpu-devices/a", channel);
    assert_eq!(refused, Err(NOT_FOUND));
    assert_eq!(client.kernel.open.take().len(), 1, "the driver's channel is closed");
}
