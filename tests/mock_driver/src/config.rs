//! Configuration of the driver, which is a text file beside the library. Each line is a key and its values.
//!
//! | key | meaning |
//! |---|---|
//! | `name N`, `ordinal N`, `journal PATH` | identity: first word of journal lines, top byte of handles, journal file |
//! | `interface N` | highest interface version; negotiation returns the smaller of N and the offered version |
//! | `interface_forced N` | version that negotiation returns for every offered version |
//! | `negotiate_result CODE` | result of the negotiation |
//! | `api_version A.B.C` | result of `vkEnumerateInstanceVersion`, and the upper bound for core commands |
//! | `instance_extension NAME VERSION` | instance extension, whose commands become available |
//! | `missing NAME` | every look-up function returns NULL for NAME |
//! | `opaque NAME` | `vkGetDeviceProcAddr` returns the number [`Config::opaque_address`] for NAME; `*` stands for every name |
//! | `answer NAME HEX` | every look-up function returns this address for NAME |
//! | `gipa NAME`, `gpdpa NAME`, `gdpa NAME` | unknown function, which only that look-up function returns |
//! | `fail NAME CODE FROM TO` | calls FROM to TO (counted from 1) of NAME return CODE |
//! | `crash NAME` | the first call of NAME ends the process |
//! | `exit NAME CODE` | the first call of NAME ends the process with this code, or with 0 |
//! | `hang NAME` | the first call of NAME never returns |
//! | `run NAME COMMAND` | each call of NAME first runs the shell command COMMAND |
//! | `calls_loader NAME` | a call of NAME calls global commands of the loader, on this thread and on another one, and then waits for both |
//! | `grow NAME N` | the second call of the two-call idiom reports N more elements than the array has space for |
//! | `null_result NAME` | NAME succeeds and writes a NULL handle |
//! | `emit NAME TEXT` | a call of NAME sends TEXT to this driver's debug-utils messengers, `vkCreateInstance` also to the one in its chain |
//! | `flag WORD` | switch; the callers of [`Config::flag`] have the words |
//! | `device NAME` | physical device, to which the next `device.*` lines belong |
//! | `device.varies QUERY CAUSE` | one number in an answer about the device depends on the `version` of the instance, on its `extensions`, or on the number of `calls`: [`Device::varied`] |
//! | `many_devices N` | N physical devices that differ in their names only |
//! | `group NAME...` | group of devices by their names; without a line of this kind, each device is a group of one |

use std::collections::{HashMap, HashSet};

/// Physical device of the configuration.
#[derive(Clone)]
pub(crate) struct Device {
    pub(crate) name: String,
    /// Value of `VkPhysicalDeviceType`.
    pub(crate) kind: i32,
    pub(crate) vendor: u32,
    pub(crate) id: u32,
    pub(crate) api_version: u32,
    pub(crate) driver_version: u32,
    pub(crate) uuid: [u8; 16],
    pub(crate) driver_uuid: [u8; 16],
    pub(crate) driver_id: i32,
    /// Address on the PCI bus: domain, bus, device, function.
    pub(crate) pci: Option<[u32; 4]>,
    pub(crate) extensions: Vec<(String, u32)>,
    pub(crate) varies: Vec<Variation>,
}

/// Query for which a device's answer contains a number that changes with the configured cause.
#[derive(Clone)]
pub(crate) struct Variation {
    /// Word for the query: `properties`, `features`, `memory`, `families`, `format`, `extensions`, `groups`, or `driver` for
    /// `VkPhysicalDeviceDriverProperties`.
    pub(crate) query: String,
    pub(crate) cause: String,
    /// Number in the answer. Each call sets this number before it uses the device.
    pub(crate) number: u32,
}

/// Configured failure: calls `from..=to` of a command return `code`.
struct Failure {
    name: String,
    code: i32,
    from: u32,
    to: u32,
}

/// Content of the configuration file.
pub(crate) struct Config {
    pub(crate) name: String,
    pub(crate) ordinal: u64,
    pub(crate) journal: Option<String>,
    pub(crate) interface: u32,
    pub(crate) interface_forced: Option<u32>,
    pub(crate) negotiate_result: i32,
    pub(crate) api_version: u32,
    pub(crate) instance_extensions: Vec<(String, u32)>,
    pub(crate) devices: Vec<Device>,
    pub(crate) groups: Vec<Vec<String>>,
    pub(crate) gipa: Vec<String>,
    pub(crate) gpdpa: Vec<String>,
    pub(crate) gdpa: Vec<String>,
    pub(crate) answers: HashMap<String, usize>,
    pub(crate) emit: HashMap<String, String>,
    missing: HashSet<String>,
    opaque: HashSet<String>,
    null_results: HashSet<String>,
    flags: HashSet<String>,
    grow: HashMap<String, u32>,
    failures: Vec<Failure>,
    crashes: Vec<String>,
    hangs: Vec<String>,
    exits: Vec<(String, i32)>,
    loader_calls: HashSet<String>,
    runs: Vec<(String, String)>,
}

impl Config {
    /// Parses the text. An error names the line, so that the author of a test notices a mistyped key.
    pub(crate) fn parse(text: &str) -> Result<Self, String> {
        let mut config = Config {
            name: "driver".into(),
            ordinal: 0,
            journal: None,
            interface: 7,
            interface_forced: None,
            negotiate_result: 0,
            api_version: version("1.3.280"),
            instance_extensions: Vec::new(),
            devices: Vec::new(),
            groups: Vec::new(),
            gipa: Vec::new(),
            gpdpa: Vec::new(),
            gdpa: Vec::new(),
            answers: HashMap::new(),
            emit: HashMap::new(),
            missing: HashSet::new(),
            opaque: HashSet::new(),
            null_results: HashSet::new(),
            flags: HashSet::new(),
            grow: HashMap::new(),
            failures: Vec::new(),
            crashes: Vec::new(),
            hangs: Vec::new(),
            exits: Vec::new(),
            loader_calls: HashSet::new(),
            runs: Vec::new(),
        };
        for line in text.lines().filter(|line| !line.is_empty()) {
            let (key, value) = line.split_once(' ').unwrap_or((line, ""));
            config.line(key, value).ok_or_else(|| format!("bad line `{line}`"))?;
        }
        Ok(config)
    }

    fn line(&mut self, key: &str, value: &str) -> Option<()> {
        let words: Vec<&str> = value.split(' ').collect();
        match key {
            "name" => self.name = value.into(),
            "ordinal" => self.ordinal = value.parse().ok()?,
            "journal" => self.journal = Some(value.into()),
            "interface" => self.interface = value.parse().ok()?,
            "interface_forced" => self.interface_forced = Some(value.parse().ok()?),
            "negotiate_result" => self.negotiate_result = value.parse().ok()?,
            "api_version" => self.api_version = version(value),
            "instance_extension" => self.instance_extensions.push(extension(&words)?),
            "missing" => drop(self.missing.insert(value.into())),
            "opaque" => drop(self.opaque.insert(value.into())),
            "null_result" => drop(self.null_results.insert(value.into())),
            "flag" => drop(self.flags.insert(value.into())),
            "gipa" => self.gipa.push(value.into()),
            "gpdpa" => self.gpdpa.push(value.into()),
            "gdpa" => self.gdpa.push(value.into()),
            "answer" => drop(
                self.answers
                    .insert(words[0].into(), usize::from_str_radix(words.get(1)?, 16).ok()?),
            ),
            "grow" => drop(self.grow.insert(words[0].into(), words.get(1)?.parse().ok()?)),
            "emit" => drop(
                value
                    .split_once(' ')
                    .map(|(name, text)| self.emit.insert(name.into(), text.into())),
            ),
            "calls_loader" => drop(self.loader_calls.insert(value.into())),
            "crash" => self.crashes.push((*words.first()?).into()),
            "hang" => self.hangs.push((*words.first()?).into()),
            "exit" => {
                let code = words.get(1).map_or(Some(0), |code| code.parse().ok())?;
                self.exits.push(((*words.first()?).into(), code));
            }
            "run" => self
                .runs
                .push(value.split_once(' ').map(|(name, line)| (name.into(), line.into()))?),
            "fail" => self.failures.push(failure(&words)?),
            "device" => self.devices.push(Device::named(value)),
            "many_devices" => {
                let names = (0..value.parse::<u32>().ok()?).map(|number| format!("many-{number}"));
                self.devices.extend(names.map(|name| Device::named(&name)));
            }
            "group" => self.groups.push(words.iter().map(|word| String::from(*word)).collect()),
            _ => self.devices.last_mut()?.line(key.strip_prefix("device.")?, value)?,
        }
        Some(())
    }

    /// Returns `true` if no look-up function may return `name`.
    pub(crate) fn misses(&self, name: &str) -> bool {
        self.missing.contains(name)
    }

    /// Returns the number that the look-up returns as the address of an opaque device command. The loader must neither call this address
    /// nor read memory there.
    pub(crate) fn opaque_address(&self, name: &str) -> Option<usize> {
        if !self.opaque.contains(name) && !self.opaque.contains("*") {
            return None;
        }
        let hash = name.bytes().fold(0xcbf2_9ce4_u32, |hash, byte| {
            (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193)
        });
        // The number must be a valid instruction address on every processor. With 32 bits, a fixed digit replaces four bits of the hash, so
        // that the number usually lies above the program and below its libraries.
        let hash = hash & !3;
        let wide = 0x5000_0000_0000 | u64::from(hash);
        Some(usize::try_from(wide).unwrap_or(0x9000_0000 | (hash & 0x0fff_ffff) as usize))
    }

    /// Returns `true` if `name` must succeed without creating an object.
    pub(crate) fn gives_null(&self, name: &str) -> bool {
        self.null_results.contains(name)
    }

    /// Returns `true` if the configuration contains the line `flag WORD`.
    pub(crate) fn flag(&self, word: &str) -> bool {
        self.flags.contains(word)
    }

    /// Returns the number of elements that the second call of `name` reports beyond the size of the array.
    pub(crate) fn grows(&self, name: &str) -> u32 {
        self.grow.get(name).copied().unwrap_or(0)
    }

    /// Returns the configured result of call number `number` of `name`.
    pub(crate) fn failure(&self, name: &str, number: u32) -> Option<i32> {
        for (_, line) in self.runs.iter().filter(|(at, _)| at == name) {
            // The test itself checks the effect of its shell command, so the driver ignores a failure.
            let _ = std::process::Command::new("sh").args(["-c", line]).status();
        }
        if let Some((_, code)) = self.exits.iter().find(|(exit, _)| exit == name) {
            std::process::exit(*code);
        }
        if self.crashes.iter().any(|crash| crash == name) {
            std::process::abort();
        }
        while self.hangs.iter().any(|hang| hang == name) {
            std::thread::park();
        }
        let hit = |failure: &&Failure| failure.name == name && (failure.from..=failure.to).contains(&number);
        self.failures.iter().find(hit).map(|failure| failure.code)
    }

    /// Returns `true` if `name` must call global commands of the loader.
    pub(crate) fn calls_loader(&self, name: &str) -> bool {
        self.loader_calls.contains(name)
    }

    /// Returns `true` if the driver has the instance extension.
    pub(crate) fn has_extension(&self, name: &str) -> bool {
        self.instance_extensions.iter().any(|(have, _)| have == name)
    }

    /// Returns `true` if one of the physical devices has the device extension.
    pub(crate) fn has_device_extension(&self, name: &str) -> bool {
        self.devices
            .iter()
            .any(|device| device.extensions.iter().any(|(have, _)| have == name))
    }
}

impl Device {
    fn named(name: &str) -> Self {
        Device {
            name: name.into(),
            kind: 2,
            vendor: 0x10000,
            id: 1,
            api_version: version("1.3.280"),
            driver_version: 1,
            uuid: [0; 16],
            driver_uuid: [0; 16],
            driver_id: 13,
            pci: None,
            extensions: Vec::new(),
            varies: Vec::new(),
        }
    }

    /// Returns the varying number for an answer, or zero for an answer that is always the same.
    pub(crate) fn varied(&self, query: &str) -> u32 {
        let is_it = |variation: &&Variation| variation.query == query;
        self.varies.iter().find(is_it).map_or(0, |variation| variation.number)
    }

    fn line(&mut self, key: &str, value: &str) -> Option<()> {
        let words: Vec<&str> = value.split(' ').collect();
        match key {
            "type" => self.kind = value.parse().ok()?,
            "vendor" => self.vendor = value.parse().ok()?,
            "id" => self.id = value.parse().ok()?,
            "api_version" => self.api_version = version(value),
            "driver_version" => self.driver_version = value.parse().ok()?,
            "uuid" => self.uuid = [value.parse().ok()?; 16],
            "driver_uuid" => self.driver_uuid = [value.parse().ok()?; 16],
            "driver_id" => self.driver_id = value.parse().ok()?,
            "pci" => {
                let numbers: Vec<u32> = words.iter().map(|word| word.parse()).collect::<Result<_, _>>().ok()?;
                self.pci = Some(numbers.try_into().ok()?);
            }
            "extension" => self.extensions.push(extension(&words)?),
            "varies" => self.varies.push(Variation {
                query: words[0].into(),
                cause: (*words.get(1)?).into(),
                number: 0,
            }),
            _ => return None,
        }
        Some(())
    }
}

fn extension(words: &[&str]) -> Option<(String, u32)> {
    Some((words[0].into(), words.get(1).map_or(Ok(1), |word| word.parse()).ok()?))
}

fn failure(words: &[&str]) -> Option<Failure> {
    let number = |index: usize, default: u32| words.get(index).map_or(Ok(default), |word| word.parse());
    Some(Failure {
        name: words[0].into(),
        code: words.get(1)?.parse().ok()?,
        from: number(2, 1).ok()?,
        to: number(3, u32::MAX).ok()?,
    })
}

/// Parses and packs the version `major.minor.patch`.
fn version(text: &str) -> u32 {
    let mut parts = text.split('.').map(|part| part.parse::<u32>().unwrap_or(0));
    let mut next = || parts.next().unwrap_or(0);
    (next() << 22) | (next() << 12) | next()
}
