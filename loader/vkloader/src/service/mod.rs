//! The state that a driver service reports (LSV-34, LSV-43 to LSV-45). All users receive the devices and drivers; administrators receive
//! the complete state.

mod connection;
mod table;

use connection::{Connection, Failed};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;
use std::io;
use std::path::{Path, PathBuf};
use wire::{Listed, Operation, status};

/// Variable that names the socket of the service (LSV-37).
const VARIABLE: &str = "VK_LOADER_SERVICE_SOCKET";

/// State of a service, from its replies.
#[derive(Debug, Serialize)]
pub(crate) struct Told {
    socket: String,
    /// Features of the service, as bits.
    features: u64,
    devices: Vec<Device>,
    manifests: Vec<Manifest>,
    /// Complete state; `None` if this user may not read it.
    inspect: Option<Value>,
    /// Reason why the complete state is missing; `None` if the state is present.
    inspect_refused: Option<String>,
}

/// A device that the service knows.
#[derive(Debug, Deserialize, Serialize)]
struct Device {
    node: String,
    #[serde(default)]
    driver: String,
    /// Drivers that the service uses for the device: at most one for each word size.
    #[serde(default)]
    active_icds: Vec<String>,
}

/// A manifest that the service publishes.
#[derive(Debug, Serialize)]
struct Manifest {
    name: String,
    /// Word size of the programs that get the driver.
    bits: u64,
    contents: String,
}

/// The complete state of the service (LSV-44). Members that the service did not send are empty.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct State {
    health: String,
    devices: BTreeMap<String, StateOfDevice>,
    icds: BTreeMap<String, StateOfDriver>,
    clients: Option<u64>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StateOfDevice {
    driver: String,
    active_icds: Vec<String>,
    icds: Vec<Package>,
}

/// A package of files that may contain the driver of a device.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Package {
    package: String,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct StateOfDriver {
    package: String,
    status: String,
    bits: u64,
    library_path: String,
    size: u64,
    sha256: String,
    error: String,
}

/// Returns the path of the service's socket: the named path, or else the one that programs use.
///
/// # Errors
///
/// The variable is empty.
pub(crate) fn socket(told: Option<&Path>) -> io::Result<PathBuf> {
    if let Some(path) = told {
        return Ok(path.into());
    }
    match std::env::var_os(VARIABLE) {
        None => Ok(wire::SOCKET.into()),
        Some(value) if value.is_empty() => Err(io::Error::other(format!(
            "{VARIABLE} is empty, which switches the service off; --socket names a socket"
        ))),
        Some(value) => Ok(value.into()),
    }
}

/// Asks the service at a socket for its state.
///
/// # Errors
/// Returns a message with the path of the socket.
pub(crate) fn ask(socket: &Path) -> io::Result<Told> {
    converse(socket).map_err(|failed| io::Error::other(format!("{}: {failed}", socket.display())))
}

fn converse(socket: &Path) -> Result<Told, Failed> {
    let mut connection = Connection::new(socket)?;
    let features = connection.ask(Operation::Features, "{}")?.payload;
    if let Some(refusal) = refusal(&features) {
        return Err(Failed::Payload(format!("status {refusal} for the first request")));
    }
    let features = features.get("features").and_then(Value::as_u64);
    let features = features.ok_or_else(|| Failed::Payload("no features in the reply".into()))?;
    let devices = match accepted(connection.ask(Operation::Devices, "{}")?.payload) {
        Some(mut reply) => read(reply["devices"].take(), "devices")?,
        None => Vec::new(),
    };
    let mut all = Vec::new();
    for bits in [64, 32] {
        let reply = connection.ask(Operation::Manifests, &format!(r#"{{"bits":{bits}}}"#))?;
        if refusal(&reply.payload).is_none() {
            all.extend(manifests(&reply.file()?, bits)?);
        }
    }
    let reply = connection.ask(Operation::Inspect, "{}")?;
    let inspect_refused = refusal(&reply.payload).map(String::from);
    let inspect = match inspect_refused {
        Some(_) => None,
        None => Some(reply.json()?),
    };
    Ok(Told {
        socket: socket.display().to_string(),
        features,
        devices,
        manifests: all,
        inspect,
        inspect_refused,
    })
}

/// Returns the status of a reply that rejects a request.
fn refusal(payload: &Value) -> Option<&str> {
    let word = payload.get("status")?;
    (word != status::OK).then(|| word.as_str().unwrap_or("unknown"))
}

fn accepted(payload: Value) -> Option<Value> {
    refusal(&payload).is_none().then_some(payload)
}

/// Returns the drivers in the list for programs of a word size.
fn manifests(list: &[u8], bits: u64) -> Result<Vec<Manifest>, Failed> {
    let mut rest = list;
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    let libraries = std::iter::from_fn(|| Listed::take(&mut rest));
    let drivers = libraries.filter(Listed::is_driver).map(|driver| Manifest {
        name: text(driver.key) + ".json",
        bits,
        contents: text(driver.manifest),
    });
    let drivers = drivers.collect();
    if rest.is_empty() {
        Ok(drivers)
    } else {
        Err(Failed::Payload("manifests: an invalid list".into()))
    }
}

fn read<T: serde::de::DeserializeOwned>(value: Value, what: &str) -> Result<T, Failed> {
    serde_json::from_value(value).map_err(|error| Failed::Payload(format!("{what}: {error}")))
}

impl Told {
    /// Returns `true` if the service publishes at least one driver.
    pub(crate) fn has_drivers(&self) -> bool {
        !self.manifests.is_empty()
    }

    /// Prints the state as tables.
    ///
    /// # Errors
    /// Writing to standard output fails.
    pub(crate) fn show(&self) -> io::Result<()> {
        table::show(self)
    }

    /// Returns the complete state, if the service sent it and it can be decoded.
    fn state(&self) -> Option<State> {
        let state = self.inspect.as_ref()?.get("core/vulkan_loader")?;
        State::deserialize(state).ok()
    }
}
