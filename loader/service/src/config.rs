//! The configuration file, with the administrator's decisions (LSV-26). Options of the command line take precedence over the file.

use crate::drivers::{Rule, Rules};
use crate::failure::Failure;
use crate::json;
use crate::library::HandOut;
use crate::package::is_name;
use serde::de::Error;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Default path of the configuration file.
pub const FILE: &str = "/etc/vulkan-loader/service.json";
/// User ID that the service takes by default when root starts it. Systems do not assign this ID to people or services.
pub const USER: u32 = 65530;
/// Upper bound on the bytes of the file.
const MOST: u64 = 1 << 20;

/// The settings of the service.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(default, deny_unknown_fields)]
pub struct Config {
    /// The path of the socket to which clients connect.
    #[serde(with = "place")]
    pub socket: PathBuf,
    /// The root folders, which contain packages, in the order in which the service searches them.
    #[serde(rename = "root", with = "places")]
    pub roots: Vec<PathBuf>,
    /// The folder of device nodes.
    #[serde(with = "place")]
    pub dri: PathBuf,
    /// The folder where sysfs is mounted.
    #[serde(with = "place")]
    pub sys: PathBuf,
    /// The folder in which the service writes `debug`.
    #[serde(with = "place")]
    pub run: PathBuf,
    /// User ID that the service gives itself if root starts it. With 0, the service stays root.
    #[serde(deserialize_with = "user")]
    pub user: u32,
    /// Method by which the service sends libraries to clients.
    pub libraries: HandOut,
    devices: Vec<Rule>,
    #[serde(deserialize_with = "package")]
    fallback: String,
    allow_fallback: bool,
}

impl Default for Config {
    fn default() -> Self {
        let rules = Rules::default();
        Self {
            socket: wire::SOCKET.into(),
            roots: vec!["/usr/lib/vulkan-icd".into(), "/usr/local/lib/vulkan-icd".into()],
            dri: "/dev/dri".into(),
            sys: "/sys".into(),
            run: "/run/vulkan-loader".into(),
            user: USER,
            libraries: HandOut::Memory,
            devices: rules.devices,
            fallback: rules.fallback,
            allow_fallback: rules.allow_fallback,
        }
    }
}

impl Config {
    /// Reads the settings in a file. The default file may be absent.
    ///
    /// # Errors
    /// Returns the fault of the file.
    pub fn read(file: Option<&Path>) -> Result<Self, Failure> {
        let path = file.unwrap_or(Path::new(FILE));
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && file.is_none() => return Ok(Self::default()),
            Err(error) => return Err(Failure::at(path)(error)),
            Ok(state) if state.len() > MOST => return Err(Failure::at(path)(format!("it has more than {MOST} bytes"))),
            Ok(_) => {}
        }
        Self::parse(path, &std::fs::read(path).map_err(Failure::at(path))?)
    }

    /// Parses the settings in a text. `file` is the name of the file in messages.
    ///
    /// # Errors
    /// Returns the fault of the file.
    pub fn parse(file: &Path, text: &[u8]) -> Result<Self, Failure> {
        json::object(text).map_err(Failure::at(file))
    }

    /// Returns the settings as a text that [`Config::parse`] accepts.
    pub fn text(&self) -> String {
        // The members are texts, numbers, and lists of texts and numbers, so writing JSON cannot fail.
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Returns the settings as a JSON value.
    pub fn value(&self) -> Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    /// Returns the rules that assign packages to devices.
    pub fn rules(&self) -> Rules {
        Rules {
            devices: self.devices.clone(),
            fallback: self.fallback.clone(),
            allow_fallback: self.allow_fallback,
        }
    }
}

/// Reads and writes a member that is an absolute path.
mod place {
    use super::*;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<PathBuf, D::Error> {
        checked(String::deserialize(deserializer)?)
    }

    pub(super) fn checked<E: Error>(path: String) -> Result<PathBuf, E> {
        if path.starts_with('/') && !path.contains('\0') {
            Ok(path.into())
        } else {
            Err(E::custom(format_args!("{path:?} is not an absolute path")))
        }
    }

    pub(super) fn serialize<S: Serializer>(path: &Path, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&path.to_string_lossy())
    }
}

/// Reads and writes a member that is a list of absolute paths.
mod places {
    use super::*;

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Vec<PathBuf>, D::Error> {
        let paths = Vec::<String>::deserialize(deserializer)?;
        paths.into_iter().map(place::checked).collect()
    }

    pub(super) fn serialize<S: Serializer>(paths: &[PathBuf], serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(paths.iter().map(|path| path.to_string_lossy()))
    }
}

/// Reads a user ID. The largest number is an error, because it does not stand for a user.
fn user<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let user = u32::deserialize(deserializer)?;
    Some(user)
        .filter(|user| *user < u32::MAX)
        .ok_or_else(|| D::Error::custom("that is not the number of a user"))
}

/// Reads a member that is the name of a package.
fn package<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let name = String::deserialize(deserializer)?;
    if is_name(&name) {
        Ok(name)
    } else {
        Err(D::Error::custom(format_args!("invalid name of a package: {name:?}")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::Identity;
    use crate::package::Class;

    fn parse(text: &str) -> Result<Config, Failure> {
        Config::parse(Path::new("c.json"), text.as_bytes())
    }

    #[test]
    fn lsv_26_the_file_has_this_shape() {
        let config = parse(
            r#"{"devices":[{"driver":"amdgpu","vendor":"0x1002","icds":["radv",7,"../x"]}],"fallback":"lavapipe","allow_fallback":true}"#,
        )
        .unwrap();
        let identity = Identity {
            driver: "amdgpu".into(),
            vendor: Some(0x1002),
            device: None,
        };
        let rules = config.rules();
        assert_eq!(rules.packages(&identity, Class::Bits64), ["radv"]);
        assert_eq!(rules.fallback(Class::Bits32), Some("lavapipe-32".into()));
    }

    #[test]
    fn what_is_printed_is_read_again() {
        let text = r#"{"socket":"/s","root":["/a","/b"],"dri":"/d","sys":"/y","run":"/r","user":7,"libraries":"file","devices":[{"vendor":"0x1002","device":"0x0001","icds":[]}],"fallback":"x","allow_fallback":false}"#;
        assert_eq!(parse(text).unwrap().text(), text);
        let config = Config::default();
        assert_eq!(parse(&config.text()), Ok(config));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("[]", "object"),
            ("{", "EOF"),
            (r#"{"sockets":"/a"}"#, "`sockets`"),
            (r#"{"socket":"a"}"#, "not an absolute path"),
            (r#"{"root":"/a"}"#, "expected a sequence"),
            (r#"{"devices":[{"vendor":"1002"}]}"#, "0x1002"),
            (r#"{"devices":[{"icd":[]}]}"#, "icd"),
            (r#"{"fallback":"a/b"}"#, "name of a package"),
            (r#"{"allow_fallback":1}"#, "expected a boolean"),
            (r#"{"libraries":"copy"}"#, "`memory`"),
            (r#"{"dri":"/a","dri":"/a"}"#, "duplicate field `dri`"),
            (r#"{"user":"nobody"}"#, "expected u32"),
            (r#"{"user":4294967295}"#, "number of a user"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("c.json: ") && error.contains(word), "{text}: {error}");
        }
        let missing = Config::read(Some(Path::new("/nowhere/c.json"))).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/c.json"), "{missing}");
    }
}
