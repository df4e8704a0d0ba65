//! Reasons why a driver is opened although a policy keeps drivers closed.

/// Reason why a driver is opened before a program needs it, although a policy keeps drivers with recorded devices closed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Opening {
    /// The process has no valid catalogue.
    NoCatalogue,
    /// The catalogue has no entry for the driver.
    NoEntry,
    /// The entry is not used, because its files have changed or because the driver differed from it.
    Entry,
    /// The user requested a comparison of all entries.
    Verified,
    /// The entry has no record of devices.
    NoRecord,
    /// The hardware of the driver is unknown, so the kernel's lists do not show changes of its devices.
    Hardware,
    /// The policy applies only to drivers whose devices are all suspended.
    Awake,
    /// The kernel, the processor or the devices differ from those of the update.
    Machine,
    /// The file of the record is missing or cannot be read.
    RecordFile,
    /// Another user can change the file of the record.
    RecordOwner,
    /// The file of the record does not have the checksum in the entry.
    RecordContent,
    /// The user's folder is unknown.
    Home,
    /// A variable that drivers read is set.
    Variable,
    /// The user has profiles for Mesa's drivers.
    UserProfiles,
    /// A file that the driver reads has changed.
    File,
    /// The process may not use a device node of the driver.
    Node,
    /// The machine has another amount of memory.
    Memory,
    /// The program passes allocation callbacks, which the driver must call during `vkCreateInstance`.
    AllocationCallbacks,
    /// The create info contains a structure that the loader cannot copy.
    Chain,
    /// The profiles of the driver may mention the program.
    Profile,
}

impl Opening {
    /// All reasons. Each row has the word that stands for the reason in a trace, and the words of a message about a driver.
    pub const ALL: [(Self, &'static str, &'static str); 20] = [
        (
            Self::NoCatalogue,
            "no-catalogue",
            "this program has no valid driver catalogue",
        ),
        (Self::NoEntry, "no-entry", "the driver catalogue has no entry for it"),
        (Self::Entry, "entry", "its entry in the driver catalogue does not count"),
        (
            Self::Verified,
            "verify",
            "VK_LOADER_CATALOGUE=verify opens every driver",
        ),
        (
            Self::NoRecord,
            "no-record",
            "the driver catalogue has no record of its devices",
        ),
        (
            Self::Hardware,
            "hardware",
            "its hardware is not in the table of hardware",
        ),
        (Self::Awake, "awake", "not all of its devices are suspended"),
        (
            Self::Machine,
            "machine",
            "the kernel, the processor or the devices are not those of the update",
        ),
        (Self::RecordFile, "record-file", "the file of its record cannot be read"),
        (
            Self::RecordOwner,
            "record-owner",
            "other users may write to the file of its record",
        ),
        (
            Self::RecordContent,
            "record-content",
            "the file of its record is not the one in its entry",
        ),
        (Self::Home, "home", "HOME is not set, or the program is elevated"),
        (Self::Variable, "variable", "a variable of drivers is set"),
        (Self::UserProfiles, "user-profiles", "the user has profiles for drivers"),
        (Self::File, "file", "a file that it reads has changed since the update"),
        (Self::Node, "node", "the program may not use a device node of it"),
        (
            Self::Memory,
            "memory",
            "the machine has another amount of memory than during the update",
        ),
        (
            Self::AllocationCallbacks,
            "allocation-callbacks",
            "the program passes allocation callbacks",
        ),
        (
            Self::Chain,
            "chain",
            "the create info of the instance has a structure that cannot be copied",
        ),
        (
            Self::Profile,
            "profile",
            "a profile of the driver may mention the program",
        ),
    ];

    /// Returns the word that stands for this reason in a trace, and the words of a message about a driver.
    pub fn words(self) -> (&'static str, &'static str) {
        let found = Self::ALL.iter().find(|(known, ..)| *known == self);
        found.map_or(("", ""), |(_, word, words)| (word, words))
    }

    /// Returns `true` for the word of a reason that depends on the create info of an instance. The loader then has already listed the
    /// devices from the record.
    pub fn follows_listing(word: &str) -> bool {
        let late = [Self::AllocationCallbacks, Self::Chain, Self::Profile];
        late.into_iter().any(|reason| reason.words().0 == word)
    }

    /// Returns the words of a message for the word that stands for a reason in a trace.
    pub fn of_word(word: &str) -> Option<&'static str> {
        let found = Self::ALL.iter().find(|(_, known, _)| *known == word);
        found.map(|(.., words)| *words)
    }
}
