//! Reading a catalogue: a view of its JSON that believes nothing before it was looked at.

use crate::{
    Json, LINKER_CACHE, LONGEST_NAME, Look, MOST_CARDS, MOST_DEVICES, MOST_ENTRIES, MOST_EXTENSIONS, MOST_FILES,
    MOST_LINKER_CACHE, MOST_VARIABLES, SCHEMA,
    closure::{File, Process},
    hardware,
    machine::{self, Hash},
    variables,
    written::{self, is_hexadecimal},
};
use core::fmt;
use core::marker::PhantomData;

/// Who reads.
#[derive(Clone, Copy, Debug)]
pub struct Reader<'r> {
    /// The version of the loader; another one may treat drivers otherwise.
    pub loader: &'r str,
    /// What it was compiled for.
    pub architecture: &'r str,
}

/// Why a whole catalogue does not count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Problem {
    /// It is no object with the members that a catalogue has, or there is more in it than may be.
    NotACatalogue,
    /// Its `schema` is another number.
    OtherSchema,
    /// Its `loader` is another version.
    OtherLoader,
    /// Its `architecture` is another one.
    OtherArchitecture,
}

/// A catalogue whose outermost members are as they must be.
#[derive(Clone, Copy, Debug)]
pub struct Catalogue<'a, J> {
    root: J,
    machine: J,
    has_variables: bool,
    _text: PhantomData<&'a [u8]>,
}

impl<'a, J: Json<'a>> Catalogue<'a, J> {
    /// Looks at the outermost members. Entries are looked at one by one.
    ///
    /// # Errors
    /// Why the catalogue as a whole does not count.
    pub fn read(root: J, reader: Reader<'_>) -> Result<Self, Problem> {
        let schema = root.member_count("schema").ok_or(Problem::NotACatalogue)?;
        if schema != SCHEMA {
            return Err(Problem::OtherSchema);
        }
        let is = |name, value: &str| match root.member_text(name) {
            Some(text) => Ok(text == value.as_bytes()),
            None => Err(Problem::NotACatalogue),
        };
        if !is("loader", reader.loader)? {
            return Err(Problem::OtherLoader);
        }
        if !is("architecture", reader.architecture)? {
            return Err(Problem::OtherArchitecture);
        }
        let found = Self::of_valid(root).ok_or(Problem::NotACatalogue)?;
        let bounded = root.few("drivers", MOST_ENTRIES).is_some()
            && root.few("files", MOST_FILES).is_some()
            && found.machine.few("cards", MOST_CARDS).is_some();
        if bounded {
            Ok(found)
        } else {
            Err(Problem::NotACatalogue)
        }
    }

    /// Returns the catalogue of a document that [`Self::read`] accepted before.
    #[inline(never)]
    pub fn of_valid(root: J) -> Option<Self> {
        Some(Self {
            root,
            machine: root.member("machine")?,
            has_variables: root.few("variables", MOST_VARIABLES)?.next().is_some(),
            _text: PhantomData,
        })
    }

    /// When it was written, in seconds since 1970.
    pub fn made(self) -> u64 {
        self.root.member_count("made").unwrap_or_default()
    }

    /// The entries, in the order in which the drivers were found.
    pub fn entries(self) -> impl Iterator<Item = Entry<'a, J>> {
        self.root
            .few("drivers", MOST_ENTRIES)
            .into_iter()
            .flatten()
            .filter_map(Entry::read)
    }

    /// The variables of [`variables`] that were set when the drivers were asked, with their values.
    pub fn variables(self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> {
        let all = self.root.few("variables", MOST_VARIABLES).into_iter().flatten();
        all.filter_map(|one| Some((one.member_text("name")?, one.member_text("value")?)))
    }

    /// Returns the paths of the manifests of all entries by their numbers, empty for what is not an entry.
    pub fn manifests(self) -> impl Iterator<Item = &'a [u8]> {
        let all = self.root.few("drivers", MOST_ENTRIES).into_iter().flatten();
        all.map(|one| {
            let manifest = one.member("manifest").and_then(|manifest| manifest.member_text("path"));
            manifest.unwrap_or_default()
        })
    }

    /// Returns the entry of this number.
    #[inline(never)]
    pub fn entry(self, number: u16) -> Option<Entry<'a, J>> {
        let mut all = self.root.few("drivers", MOST_ENTRIES)?;
        all.nth(number.into()).and_then(Entry::read)
    }

    /// Returns the value that a variable had when the drivers were asked, if it was set.
    pub fn value_of(self, name: &[u8]) -> Option<&'a [u8]> {
        if self.has_variables {
            self.written_value(name)
        } else {
            None
        }
    }

    #[inline(never)]
    fn written_value(self, name: &[u8]) -> Option<&'a [u8]> {
        let mut all = self.root.few("variables", MOST_VARIABLES)?;
        all.find(|one| one.member_text("name") == Some(name))?
            .member_text("value")
    }

    /// Whether a variable of the process has the value that it had when the drivers were asked, or does not matter.
    pub fn allows(self, name: &[u8], value: &[u8]) -> bool {
        self.value_of(name)
            .map_or_else(|| !variables::matters(name, value), |known| known == value)
    }

    /// The written form of the [`Fingerprint`](crate::Fingerprint) of the machine.
    pub fn fingerprint(self) -> &'a [u8] {
        self.machine.member_text("fingerprint").unwrap_or_default()
    }

    /// Places of the graphics cards on the PCI bus.
    pub fn cards(self) -> impl Iterator<Item = &'a [u8]> {
        let all = self.machine.few("cards", MOST_CARDS).into_iter().flatten();
        all.filter_map(|card| card.member_text("address"))
    }

    /// The files that drivers depend on, which entries refer to by their numbers. One that is not as it must be is never as it was.
    pub fn files(self) -> impl Iterator<Item = File<'a>> {
        let all = self.root.few("files", MOST_FILES).into_iter().flatten();
        all.map(|one| {
            let mut texts = [None; 4];
            if let Some((_, parts)) = one.elements() {
                texts.iter_mut().zip(parts).for_each(|(text, part)| *text = part.text());
            }
            let [path, identity, names, build_id] = texts;
            File {
                path: path.unwrap_or_default(),
                identity: identity.unwrap_or(b"unknown"),
                names: names.unwrap_or_default(),
                build_id: build_id.unwrap_or_default(),
            }
        })
    }

    /// Returns `true` if the dynamic linker's cache leads where it did when the drivers were asked: it is the same file, or has the same
    /// content. `None` where there was no cache, and is none.
    pub fn has_same_linker_cache(self, process: &impl Process) -> Option<bool> {
        let written = self.root.member_text("linker-cache").unwrap_or_default();
        match process.file(LINKER_CACHE) {
            None if written.is_empty() => None,
            None => Some(false),
            Some((now, _)) if now.proves() && now.is_written(written) => Some(true),
            Some(_) => {
                let known = self.root.member_text("linker-cache-sum");
                Some(known.is_some_and(|known| LinkerCacheSum::of(process).is_written(known)))
            }
        }
    }
}

/// The content of the dynamic linker's cache, as one number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkerCacheSum(u64);

impl LinkerCacheSum {
    /// Reads it.
    pub fn of(process: &impl Process) -> Self {
        let mut hash = Hash::new();
        process.read(LINKER_CACHE, MOST_LINKER_CACHE, &mut |piece| hash.take(piece));
        Self(hash.mixed())
    }

    fn is_written(self, text: &[u8]) -> bool {
        is_hexadecimal(text, &self.0.to_be_bytes())
    }
}

/// Sixteen hexadecimal digits.
impl fmt::Display for LinkerCacheSum {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// How it ended when a driver was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// It made an instance, or was not asked to.
    Answered,
    /// It refused, with this code of Vulkan, or did not open (0).
    Failed(i32),
    /// The process ended by this signal.
    Crashed(u32),
    /// The driver ended the process with this status.
    Ended(u32),
    /// The process did not end within this many seconds.
    Hung(u32),
}

/// What the kernel's lists say of a driver's hardware.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hardware {
    /// Nothing: the driver is not in the [table](hardware::TABLE).
    Unknown,
    /// It needs none.
    Software,
    /// It is there.
    Present,
    /// It is not there.
    Absent,
    /// It is there, and the driver may have to bring it up, so that devices may come without any sign.
    Pending,
}

impl Hardware {
    /// All of them, as they are written.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Unknown, "unknown"),
        (Self::Software, "software"),
        (Self::Present, "present"),
        (Self::Absent, "absent"),
        (Self::Pending, "pending"),
    ];

    /// How it is written.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == self)
            .map_or("unknown", |(_, name)| name)
    }

    /// That of a driver, of which `serves` says for each kernel driver whether something on the machine is bound to it, `node` whether
    /// a node exists, and `idle_card` whether a card of a vendor waits for a kernel driver or has one of these.
    pub fn of(
        library: &[u8],
        serves: impl Fn(&str) -> bool,
        node: impl Fn(&str) -> bool,
        idle_card: impl Fn(u16, &[&str]) -> bool,
    ) -> Self {
        let Some(row) = hardware::of(library) else {
            return Self::Unknown;
        };
        let is_there =
            row.kernel_drivers.iter().any(|driver| serves(driver)) || row.nodes.iter().any(|path| node(path));
        match () {
            () if row.is_software => Self::Software,
            () if row.on_demand_vendor != 0 && (is_there || idle_card(row.on_demand_vendor, row.kernel_drivers)) => {
                Self::Pending
            }
            () if is_there => Self::Present,
            () => Self::Absent,
        }
    }
}

/// An instance extension of a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Extension<'a> {
    /// Its name, which fits the structure of Vulkan.
    pub name: &'a [u8],
    /// Its revision.
    pub version: u32,
}

/// A device as it is written; `None` for what is missing.
#[derive(Clone, Copy, Debug)]
pub struct Device<'a> {
    /// Its name. Bytes that are not text are replaced.
    pub name: Option<&'a [u8]>,
    /// The word for its type.
    pub kind: Option<&'a [u8]>,
    /// The number of its vendor.
    pub vendor: Option<u64>,
    /// Its own number.
    pub device: Option<u64>,
    /// Its place on the PCI bus.
    pub pci: Option<&'a [u8]>,
    /// Its UUID, in hexadecimal digits.
    pub uuid: Option<&'a [u8]>,
}

/// What is known of one driver.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a, J> {
    json: J,
    /// The path of its manifest.
    pub manifest: &'a [u8],
    /// Its library as the manifest names it, made absolute where that is a path.
    pub named: &'a [u8],
    /// The file that was opened.
    pub path: &'a [u8],
    /// The written form of the identity of that file.
    pub identity: &'a [u8],
    /// The written form of the build id of that file; empty where it has none.
    pub build_id: &'a [u8],
    /// How it ended.
    pub outcome: Outcome,
}

// What is not inlined here is called in many places, and at most a few times for each driver.
impl<'a, J: Json<'a>> Entry<'a, J> {
    #[inline(never)]
    fn read(json: J) -> Option<Self> {
        let library = json.member("library")?;
        Some(Self {
            json,
            manifest: json.member("manifest")?.member_text("path")?,
            named: library.member_text("named")?,
            path: library.member_text("path")?,
            identity: library.member_text("identity")?,
            build_id: library.member_text("build-id").unwrap_or_default(),
            outcome: outcome(json)?,
        })
    }

    /// When the driver was asked, in seconds since 1970.
    pub fn asked(self) -> u64 {
        self.json.member_count("asked").unwrap_or_default()
    }

    /// What the kernel's lists said then.
    pub fn hardware(self) -> Hardware {
        let written = self.json.member_text("hardware").unwrap_or_default();
        Hardware::ALL
            .iter()
            .find(|(_, name)| name.as_bytes() == written)
            .map_or(Hardware::Unknown, |(hardware, _)| *hardware)
    }

    /// Its instance extensions in its own order; `None` where it was not asked, or where they are none that a driver could have.
    #[inline(never)]
    pub fn extensions(self) -> Option<impl Iterator<Item = Extension<'a>> + Clone> {
        let all = self.json.few("extensions", MOST_EXTENSIONS)?.map(extension::<J>);
        // Each is looked at before the first is given out.
        all.clone().all(|one| one.is_some()).then(|| all.flatten())
    }

    /// Returns its instance extensions if [`Self::extensions`] returned them before.
    pub fn valid_extensions(self) -> impl Iterator<Item = Extension<'a>> {
        let all = self.json.few("extensions", MOST_EXTENSIONS);
        all.into_iter().flatten().filter_map(extension::<J>)
    }

    /// Whether it computes on the processor, as far as is known.
    pub fn is_software(self) -> bool {
        let is_processor = |device: J| device.member_text("type") == Some(b"cpu");
        self.hardware() == Hardware::Software || self.all_devices(&is_processor)
    }

    /// Whether it has devices, and all are on the PCI bus and suspended by the kernel now.
    pub fn sleeps(self, look: &impl Look) -> bool {
        let place = |device: J| device.member_text("pci");
        self.all_devices(&|device| place(device).is_some_and(|place| machine::sleeps(look, place)))
    }

    /// Returns `true` if it has devices, and `is` holds for all of them.
    pub fn has_only(self, is: &dyn Fn(Device<'a>) -> bool) -> bool {
        self.all_devices(&|device| {
            is(Device {
                name: device.member_text("name"),
                kind: device.member_text("type"),
                vendor: device.member_count("vendor"),
                device: device.member_count("device"),
                pci: device.member_text("pci"),
                uuid: device.member_text("uuid"),
            })
        })
    }

    /// Returns `true` if it has devices, and all of them are as wanted.
    fn all_devices(self, is: &dyn Fn(J) -> bool) -> bool {
        let devices = self.json.few("devices", MOST_DEVICES);
        self.devices() > Some(0) && devices.is_some_and(|mut devices| devices.all(is))
    }

    /// The version of the interface between loader and driver that it agreed to, where it came so far.
    pub fn interface(self) -> Option<u64> {
        self.json.member_count("interface")
    }

    /// Returns `true` if its version of Vulkan has these parts, or is not known.
    pub fn agrees_on_version(self, parts: [u32; 3]) -> bool {
        let known = self.json.member_text("api-version");
        known.is_none_or(|known| {
            let known = known.split(|&byte| byte == b'.').map(written::number);
            known.eq(parts.map(Some))
        })
    }

    /// Whether one of its devices has this name and these numbers. Of a name that is no text there is a likeness only, which is not
    /// compared.
    pub fn has_device(self, name: &[u8], vendor: u32, device: u32) -> bool {
        let is = |known: J| {
            known.member_count("vendor") == Some(vendor.into())
                && known.member_count("device") == Some(device.into())
                && (known.member_text("name") == Some(name) || str::from_utf8(name).is_err())
        };
        let devices = self.json.few("devices", MOST_DEVICES);
        devices.is_some_and(|mut devices| devices.any(is))
    }

    /// The numbers of the files that the driver depends on, `None` for one that is not a number; `None` for an entry without a list.
    pub fn files(self) -> Option<impl Iterator<Item = Option<u16>>> {
        let all = self.json.few("files", MOST_FILES)?;
        Some(all.map(|one| {
            let number = one.number()?;
            let whole = number as u16;
            (f64::from(whole) == number).then_some(whole)
        }))
    }

    /// How many devices it has; `None` where it was not asked.
    pub fn devices(self) -> Option<usize> {
        self.json.few("devices", MOST_DEVICES).map(Iterator::count)
    }
}

fn extension<'a, J: Json<'a>>(json: J) -> Option<Extension<'a>> {
    let mut parts = json.text()?.splitn(2, |&byte| byte == b' ');
    let (name, version) = (parts.next()?, written::number(parts.next()?)?);
    let fits = (1..=LONGEST_NAME).contains(&name.len()) && !name.contains(&0);
    fits.then_some(Extension { name, version })
}

fn outcome<'a, J: Json<'a>>(json: J) -> Option<Outcome> {
    let number = |name| u32::try_from(json.member_count(name)?).ok();
    match json.member_text("outcome")? {
        b"answered" => Some(Outcome::Answered),
        b"failed" => {
            let code = json.member("code")?.number()?;
            let range = f64::from(i32::MIN)..=f64::from(i32::MAX);
            range.contains(&code).then_some(Outcome::Failed(code as i32))
        }
        b"crashed" => Some(Outcome::Crashed(number("signal")?)),
        b"ended" => Some(Outcome::Ended(number("status")?)),
        b"hung" => Some(Outcome::Hung(number("seconds")?)),
        _ => None,
    }
}
