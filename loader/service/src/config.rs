//! What the administrator decides: the configuration file (LSV-26), over which the command line goes.

use crate::drivers::{Rule, Rules};
use crate::json::Json;
use crate::library::HandOut;
use crate::package::is_name;
use std::fmt;
use std::path::{Path, PathBuf};
use tracing::warn;

/// Where the file is if nothing says otherwise.
pub const FILE: &str = "/etc/vulkan-loader/service.json";
/// The user that a daemon of root becomes by default: none that a system gives to a person or a service.
pub const USER: u32 = 65530;
/// Bytes of the longest file.
const MOST: u64 = 1 << 20;

/// All settings.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// Where clients connect.
    pub socket: PathBuf,
    /// The folders that packages are in, in the order in which they are searched.
    pub roots: Vec<PathBuf>,
    /// The folder of device nodes.
    pub dri: PathBuf,
    /// Where sysfs is.
    pub sys: PathBuf,
    /// The folder in which `debug` is written.
    pub run: PathBuf,
    /// Whether udev is listened to.
    pub udev: bool,
    /// The user that a daemon of root becomes; root to stay root.
    pub user: u32,
    /// How libraries are handed out.
    pub libraries: HandOut,
    /// Which packages serve which devices.
    pub rules: Rules,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            socket: wire::SOCKET.into(),
            roots: vec!["/usr/lib/vulkan-icd".into(), "/usr/local/lib/vulkan-icd".into()],
            dri: "/dev/dri".into(),
            sys: "/sys".into(),
            run: "/run/vulkan-loader".into(),
            udev: true,
            user: USER,
            libraries: HandOut::Memory,
            rules: Rules::default(),
        }
    }
}

/// What is wrong with the file.
#[derive(Debug, PartialEq, Eq)]
pub enum ConfigError {
    /// It cannot be read.
    Io(PathBuf, String),
    /// It is no JSON that is accepted.
    Json(PathBuf, String),
    /// A member is none that there is.
    Unknown(PathBuf, String),
    /// A member is of the wrong type.
    Member(PathBuf, String, &'static str),
}

impl fmt::Display for ConfigError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(file, error) | Self::Json(file, error) => write!(formatter, "{}: {error}", file.display()),
            Self::Unknown(file, key) => write!(formatter, "{}: there is no setting {key:?}", file.display()),
            Self::Member(file, key, wanted) => write!(formatter, "{}: {key} must be {wanted}", file.display()),
        }
    }
}

impl std::error::Error for ConfigError {}

impl Config {
    /// The settings of a file. The one that is read by default need not be there.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn read(file: Option<&Path>) -> Result<Self, ConfigError> {
        let path = file.unwrap_or(Path::new(FILE));
        let failed = |error: String| ConfigError::Io(path.to_owned(), error);
        match std::fs::metadata(path) {
            Err(error) if error.kind() == std::io::ErrorKind::NotFound && file.is_none() => return Ok(Self::default()),
            Err(error) => return Err(failed(error.to_string())),
            Ok(state) if state.len() > MOST => return Err(failed(format!("it has more than {MOST} bytes"))),
            Ok(_) => {}
        }
        let text = std::fs::read(path).map_err(|error| failed(error.to_string()))?;
        Self::parse(path, &text)
    }

    /// The settings in a text; `file` is its name in messages.
    ///
    /// # Errors
    /// What is wrong with it.
    pub fn parse(file: &Path, text: &[u8]) -> Result<Self, ConfigError> {
        let json = Json::read(text).map_err(|error| ConfigError::Json(file.to_owned(), error.to_string()))?;
        let at = |key: &str| At {
            file: file.to_owned(),
            key: key.to_owned(),
        };
        let Json::Object(members) = &json else {
            return Err(ConfigError::Json(file.to_owned(), "it is no object".to_owned()));
        };
        let mut config = Self::default();
        for (key, value) in members {
            let at = at(key);
            match key.as_str() {
                "socket" => config.socket = at.path(value)?,
                "root" => {
                    config.roots = at
                        .list(value)?
                        .iter()
                        .map(|root| at.path(root))
                        .collect::<Result<_, _>>()?
                }
                "dri" => config.dri = at.path(value)?,
                "sys" => config.sys = at.path(value)?,
                "run" => config.run = at.path(value)?,
                "no-udev" => config.udev = !at.truth(value)?,
                "user" => config.user = at.user(value)?,
                "libraries" => config.libraries = at.hand_out(value)?,
                "devices" => {
                    let rules = at.list(value)?.iter().map(|rule| at.rule(rule));
                    config.rules.devices = rules.collect::<Result<_, _>>()?;
                }
                "fallback" => config.rules.fallback = at.name(value)?,
                "allow_fallback" => config.rules.allow_fallback = at.truth(value)?,
                _ => return Err(ConfigError::Unknown(at.file, at.key)),
            }
        }
        Ok(config)
    }

    /// The settings as a text that [`Config::parse`] reads.
    pub fn json(&self) -> Json {
        let text = |text: &str| Json::Text(text.to_owned());
        let path = |path: &Path| Json::Text(path.to_string_lossy().into_owned());
        let id = |number: u16| Json::Text(format!("0x{number:04x}"));
        let devices = self.rules.devices.iter().map(|rule| {
            let packages = rule.packages.iter().map(|name| text(name)).collect();
            let matches = [
                ("driver", rule.driver.as_deref().map(text)),
                ("vendor", rule.vendor.map(id)),
                ("device", rule.device.map(id)),
                ("icds", Some(Json::List(packages))),
            ];
            let members = matches
                .into_iter()
                .filter_map(|(key, value)| Some((key.to_owned(), value?)));
            Json::Object(members.collect())
        });
        let libraries = match self.libraries {
            HandOut::Memory => "memory",
            HandOut::File => "file",
        };
        let members = [
            ("socket", path(&self.socket)),
            ("root", Json::List(self.roots.iter().map(|root| path(root)).collect())),
            ("dri", path(&self.dri)),
            ("sys", path(&self.sys)),
            ("run", path(&self.run)),
            ("no-udev", Json::Bool(!self.udev)),
            ("user", Json::Number(self.user.into())),
            ("libraries", text(libraries)),
            ("devices", Json::List(devices.collect())),
            ("fallback", text(&self.rules.fallback)),
            ("allow_fallback", Json::Bool(self.rules.allow_fallback)),
        ];
        Json::Object(
            members
                .into_iter()
                .map(|(key, value)| (key.to_owned(), value))
                .collect(),
        )
    }
}

/// A member of the file, for messages.
struct At {
    file: PathBuf,
    key: String,
}

impl At {
    fn wrong(&self, wanted: &'static str) -> ConfigError {
        ConfigError::Member(self.file.clone(), self.key.clone(), wanted)
    }

    fn path(&self, value: &Json) -> Result<PathBuf, ConfigError> {
        let path = value
            .text()
            .filter(|path| path.starts_with('/') && !path.contains('\0'));
        path.map(PathBuf::from).ok_or_else(|| self.wrong("an absolute path"))
    }

    fn list<'a>(&self, value: &'a Json) -> Result<&'a [Json], ConfigError> {
        if let Json::List(values) = value {
            Ok(values)
        } else {
            Err(self.wrong("a list"))
        }
    }

    fn truth(&self, value: &Json) -> Result<bool, ConfigError> {
        if let Json::Bool(value) = value {
            Ok(*value)
        } else {
            Err(self.wrong("true or false"))
        }
    }

    fn name(&self, value: &Json) -> Result<String, ConfigError> {
        let name = value.text().filter(|name| is_name(name));
        name.map(str::to_owned)
            .ok_or_else(|| self.wrong("the name of a package"))
    }

    fn user(&self, value: &Json) -> Result<u32, ConfigError> {
        let user = value.natural().and_then(|user| u32::try_from(user).ok());
        // The last one means no user.
        user.filter(|user| *user < u32::MAX)
            .ok_or_else(|| self.wrong("the number of a user"))
    }

    fn hand_out(&self, value: &Json) -> Result<HandOut, ConfigError> {
        match value.text() {
            Some("memory") => Ok(HandOut::Memory),
            Some("file") => Ok(HandOut::File),
            _ => Err(self.wrong("\"memory\" or \"file\"")),
        }
    }

    fn id(&self, value: &Json) -> Result<u16, ConfigError> {
        let digits = value.text().and_then(|text| text.strip_prefix("0x"));
        let number = digits.and_then(|digits| u16::from_str_radix(digits, 16).ok());
        number.ok_or_else(|| self.wrong("entries whose vendor and device are numbers like \"0x1002\""))
    }

    fn rule(&self, value: &Json) -> Result<Rule, ConfigError> {
        let Json::Object(members) = value else {
            return Err(self.wrong("a list of objects"));
        };
        let mut rule = Rule::default();
        for (key, value) in members {
            match key.as_str() {
                "driver" => {
                    let driver = value
                        .text()
                        .ok_or_else(|| self.wrong("entries whose driver is a string"))?;
                    rule.driver = Some(driver.to_owned());
                }
                "vendor" => rule.vendor = Some(self.id(value)?),
                "device" => rule.device = Some(self.id(value)?),
                "icds" => rule.packages = self.list(value)?.iter().filter_map(|name| self.package(name)).collect(),
                _ => return Err(ConfigError::Unknown(self.file.clone(), format!("{}: {key}", self.key))),
            }
        }
        Ok(rule)
    }

    /// A package on the list of a device. One that is none is passed over, with a word about it (LSV-26).
    fn package(&self, value: &Json) -> Option<String> {
        let name = value.text().filter(|name| is_name(name));
        if name.is_none() {
            warn!(
                "{}: {value} is no name of a package, and is passed over",
                self.file.display()
            );
        }
        name.map(str::to_owned)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::drivers::Identity;

    fn parse(text: &str) -> Result<Config, ConfigError> {
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
        assert_eq!(config.rules.packages(&identity), ["radv"]);
        assert_eq!(config.rules.fallback(), Some("lavapipe"));
    }

    #[test]
    fn what_is_printed_is_read_again() {
        let text = r#"{"socket":"/s","root":["/a","/b"],"dri":"/d","sys":"/y","run":"/r","no-udev":true,"user":7,"libraries":"file","devices":[{"vendor":"0x1002","device":"0x0001","icds":[]}],"fallback":"x","allow_fallback":false}"#;
        assert_eq!(parse(text).unwrap().json().to_string(), text);
        let config = Config::default();
        assert_eq!(parse(&config.json().to_string()), Ok(config));
    }

    #[test]
    fn what_is_wrong_is_named() {
        for (text, word) in [
            ("[]", "object"),
            ("{", "EOF"),
            (r#"{"sockets":"/a"}"#, "\"sockets\""),
            (r#"{"socket":"a"}"#, "socket must be an absolute path"),
            (r#"{"root":"/a"}"#, "root must be a list"),
            (r#"{"devices":[{"vendor":"1002"}]}"#, "0x1002"),
            (r#"{"devices":[{"icd":[]}]}"#, "icd"),
            (r#"{"fallback":"a/b"}"#, "name of a package"),
            (r#"{"allow_fallback":1}"#, "true or false"),
            (r#"{"libraries":"copy"}"#, "memory"),
            (r#"{"user":"nobody"}"#, "number of a user"),
            (r#"{"user":4294967295}"#, "number of a user"),
        ] {
            let error = parse(text).unwrap_err().to_string();
            assert!(error.starts_with("c.json: ") && error.contains(word), "{text}: {error}");
        }
        let missing = Config::read(Some(Path::new("/nowhere/c.json"))).unwrap_err();
        assert!(missing.to_string().contains("/nowhere/c.json"), "{missing}");
    }
}
