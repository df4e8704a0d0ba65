//! A view of the entry of a driver. Each value is checked before it is used.

use crate::{Json, LONGEST_NAME, Look, MOST_DEVICES, MOST_EXTENSIONS, MOST_FILES, hardware, machine, written};

/// Result of asking a driver.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// The driver created an instance, or listed its extensions if it was asked for nothing else.
    Answered,
    /// `vkCreateInstance` failed with this `VkResult`; 0 if the library did not open.
    Failed(i32),
    /// A signal ended the process that asked the driver. The field is the number of the signal.
    Crashed(u32),
    /// The driver ended the process that asked it, with this exit status.
    Ended(u32),
    /// The process that asked the driver did not end within this many seconds.
    Hung(u32),
}

/// State of a driver's hardware, according to the kernel's lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hardware {
    /// Unknown, because the driver is not in the [table](hardware::TABLE).
    Unknown,
    /// The driver runs on the processor and needs no hardware.
    Software,
    /// The hardware is present.
    Present,
    /// The hardware is absent.
    Absent,
    /// The hardware is present, but the driver may have to start it. Devices may then appear without a change in the kernel's lists.
    Pending,
}

impl Hardware {
    /// All states, each with its word in a catalogue.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Unknown, "unknown"),
        (Self::Software, "software"),
        (Self::Present, "present"),
        (Self::Absent, "absent"),
        (Self::Pending, "pending"),
    ];

    /// Returns the word by which a catalogue names the state.
    pub fn name(self) -> &'static str {
        Self::ALL
            .iter()
            .find(|(known, _)| *known == self)
            .map_or("unknown", |(_, name)| name)
    }

    /// Returns the state of a driver's hardware. `serves` returns `true` if a kernel driver is bound to a device, and `node` returns `true`
    /// if a device node exists. `idle_card` returns `true` if a card of a vendor has no kernel driver, or one of the given kernel drivers.
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
    /// Name, short enough for `VkExtensionProperties`.
    pub name: &'a [u8],
    /// Revision.
    pub version: u32,
}

/// The members of a device in a catalogue; a missing member is `None`.
#[derive(Clone, Copy, Debug)]
pub struct Device<'a> {
    /// Name. Invalid UTF-8 was replaced.
    pub name: Option<&'a [u8]>,
    /// Word for the type of the device.
    pub kind: Option<&'a [u8]>,
    /// Device ID.
    pub device: Option<u64>,
    /// PCI address.
    pub pci: Option<&'a [u8]>,
    /// UUID in hexadecimal digits.
    pub uuid: Option<&'a [u8]>,
}

/// Entry of one driver in a catalogue.
#[derive(Clone, Copy, Debug)]
pub struct Entry<'a, J> {
    json: J,
    /// Path of the manifest.
    pub manifest: &'a [u8],
    /// Library in the form of the manifest, but with an absolute path instead of a relative one.
    pub named: &'a [u8],
    /// Path of the file that was opened.
    pub path: &'a [u8],
    /// Identity of the file at `path`, as text.
    pub identity: &'a [u8],
    /// Build ID of the file at `path`, as text; empty if the file has no build ID.
    pub build_id: &'a [u8],
    /// Result of asking the driver.
    pub outcome: Outcome,
}

// Inlining the functions of an entry would make the library larger, because they have many callers. Each call happens at most a few times
// per driver.
impl<'a, J: Json<'a>> Entry<'a, J> {
    #[inline(never)]
    pub(crate) fn read(json: J) -> Option<Self> {
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

    /// Returns the time at which the driver was asked, in seconds since 1970.
    pub fn asked(self) -> u64 {
        self.json.member_count("asked").unwrap_or_default()
    }

    /// Returns the state of the driver's hardware when the driver was asked.
    pub fn hardware(self) -> Hardware {
        let written = self.json.member_text("hardware").unwrap_or_default();
        Hardware::ALL
            .iter()
            .find(|(_, name)| name.as_bytes() == written)
            .map_or(Hardware::Unknown, |(hardware, _)| *hardware)
    }

    /// Returns the instance extensions in the driver's order; `None` if the driver did not list them or one of them is invalid.
    #[inline(never)]
    pub fn extensions(self) -> Option<impl Iterator<Item = Extension<'a>> + Clone> {
        let all = self
            .json
            .few("extensions", MOST_EXTENSIONS)?
            .map(|one| extension(one.text()?));
        // All extensions are checked before the first one is returned.
        all.clone().all(|one| one.is_some()).then(|| all.flatten())
    }

    /// Returns `true` if the driver is known to run on the processor.
    pub fn is_software(self) -> bool {
        let is_processor = |device: J| device.member_text("type") == Some(b"cpu");
        self.hardware() == Hardware::Software || self.all_devices(&is_processor)
    }

    /// Returns `true` if the driver has devices, and the kernel has suspended all of them.
    pub fn sleeps(self, look: &impl Look) -> bool {
        let place = |device: J| device.member_text("pci");
        self.all_devices(&|device| place(device).is_some_and(|place| machine::sleeps(look, place)))
    }

    /// Returns `true` if the driver has devices, and `is` returns `true` for all of them.
    pub fn has_only(self, is: &dyn Fn(Device<'a>) -> bool) -> bool {
        self.all_devices(&|device| {
            is(Device {
                name: device.member_text("name"),
                kind: device.member_text("type"),
                device: device.member_count("device"),
                pci: device.member_text("pci"),
                uuid: device.member_text("uuid"),
            })
        })
    }

    /// Returns `true` if the driver has devices, and `is` returns `true` for the JSON value of each device.
    fn all_devices(self, is: &dyn Fn(J) -> bool) -> bool {
        let devices = self.json.few("devices", MOST_DEVICES);
        self.devices() > Some(0) && devices.is_some_and(|mut devices| devices.all(is))
    }

    /// Returns the negotiated interface version; `None` if the negotiation failed.
    pub fn interface(self) -> Option<u64> {
        self.json.member_count("interface")
    }

    /// Returns `true` if the driver has the Vulkan version `parts` (major, minor, patch), or if the driver's version is unknown.
    pub fn agrees_on_version(self, parts: [u32; 3]) -> bool {
        let known = self.json.member_text("api-version");
        known.is_none_or(|known| {
            let known = known.split(|&byte| byte == b'.').map(written::number);
            known.eq(parts.map(Some))
        })
    }

    /// Returns `true` if the entry has a device with the name `name`, the vendor ID `vendor` and the device ID `device`. The name is not
    /// compared if it is not valid UTF-8, because the catalogue then contains replacement characters.
    pub fn has_device(self, name: &[u8], vendor: u32, device: u32) -> bool {
        let is = |known: J| {
            known.member_count("vendor") == Some(vendor.into())
                && known.member_count("device") == Some(device.into())
                && (known.member_text("name") == Some(name) || str::from_utf8(name).is_err())
        };
        let devices = self.json.few("devices", MOST_DEVICES);
        devices.is_some_and(|mut devices| devices.any(is))
    }

    /// Returns the indices of the files that the driver depends on, with `None` for an invalid index; `None` for an entry without a list.
    pub fn files(self) -> Option<impl Iterator<Item = Option<u16>>> {
        let all = self.json.few("files", MOST_FILES)?;
        Some(all.map(|one| {
            let number = one.number()?;
            let whole = number as u16;
            (f64::from(whole) == number).then_some(whole)
        }))
    }

    /// Returns the checksum of the record of the driver's devices; `None` if there is no record.
    pub fn record(self) -> Option<u64> {
        let text = str::from_utf8(self.json.member_text("record")?).ok()?;
        let is_plain = text.len() == 16 && !text.starts_with('+');
        is_plain.then(|| u64::from_str_radix(text, 16).ok())?
    }

    /// Returns the number of devices; `None` if the driver was not asked for them.
    pub fn devices(self) -> Option<usize> {
        self.json.few("devices", MOST_DEVICES).map(Iterator::count)
    }
}

/// Returns the extension that a text describes: its name, a blank and its version.
pub(crate) fn extension(text: &[u8]) -> Option<Extension<'_>> {
    let blank = text.iter().position(|&byte| byte == b' ')?;
    let (name, version) = (text.get(..blank)?, written::number(text.get(blank + 1..)?)?);
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
