//! Upper bounds on input from files, variables, drivers and applications.

/// One line of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The quantity that the row limits.
    pub what: &'static str,
    /// Largest allowed value of the quantity.
    pub value: u64,
    /// Unit of the bound.
    pub unit: &'static str,
    /// The consequence when the quantity exceeds the limit.
    pub more: &'static str,
}

macro_rules! limits {
    ($($(#[$attribute:meta])* $name:ident: $kind:ty = $value:expr, $unit:literal, $what:literal, $more:literal;)+) => {
        $(
            #[doc = concat!("Upper bound on ", $what, ", in ", $unit, ".")]
            $(#[$attribute])*
            pub const $name: $kind = $value;
        )+

        /// All bounds, in the order in which the documentation lists them.
        pub const TABLE: &[Row] = &[$(Row { what: $what, value: $name as u64, unit: $unit, more: $more },)+];
    };
}

limits! {
    /// The reference promises this bound (LAY-72).
    MAX_FILE_BYTES: u64 = 16 << 20, "bytes", "a manifest or settings file", "refused, without reading it";
    CATALOGUE_BYTES: u64 = 1 << 20, "bytes", "a driver catalogue", "ignored, without reading it";
    CATALOGUE_ENTRIES: usize = 256, "drivers", "drivers in a driver catalogue", "it is ignored";
    CATALOGUE_EXTENSIONS: usize = 1024, "extensions", "extensions of one of them", "the driver is opened";
    CATALOGUE_DEVICES: usize = 256, "devices", "devices of one of them", "the driver is opened";
    CATALOGUE_FILES: usize = 1024, "files", "files of which the drivers of a catalogue consist", "it is ignored";
    CATALOGUE_VARIABLES: usize = 256, "variables", "variables of which a driver catalogue knows the values", "it is ignored";
    CATALOGUE_CARDS: usize = 64, "cards", "graphics cards of which a driver catalogue knows the state", "it is ignored";
    CATALOGUE_LINKER_CACHE: usize = 4 << 20, "bytes", "the dynamic linker's cache, where its content is compared", "the rest is not compared";
    CATALOGUE_SEARCH_PATH: usize = 1024, "bytes", "a path that a driver catalogue is held against", "the drivers are opened";
    MAX_DEPTH: usize = 1000, "levels", "arrays and objects inside each other in JSON", "the file is invalid";
    /// The API has room for 255 bytes, but the Khronos loader refuses a name of that length (LAY-92).
    MAX_LAYER_NAME: usize = 254, "bytes", "names and descriptions of layers, names of their extensions",
        "the layer or extension is dropped";
    MAX_ORDERED_LAYERS: usize = 1024, "layers", "active layers of which declarations decide the order",
        "they keep the order that they have without declarations, with a warning";
    MAX_LIBRARY_PATH: usize = 4095, "bytes", "the library path of a driver", "the driver is dropped";
    MAX_DEVICE_NAME: usize = 255, "bytes", "names of devices in the settings file", "taken as empty";
    MAX_EXECUTABLE_PATH: usize = 1023, "bytes", "the path of an executable that keys are compared with", "no key matches";
    /// Meta-layers can contain each other, and each one takes over all extensions of the layers below it.
    MAX_TAKEN_OVER: usize = 65536, "extensions", "extensions of components that meta-layers take over, in one scan",
        "later ones are left out";
    MAX_PATTERNS: usize = 16, "patterns", "patterns of one variable", "later ones are ignored, with a warning";
    MAX_PATTERN_BYTES: usize = 255, "bytes", "one pattern", "cut";
    MAX_ID_ITEMS: usize = 16, "items", "items of an ID filter", "later ones are ignored, with a warning";
    MAX_VISIBLE_WORDS: usize = 16_384, "words", "words of VK_LOADER_VISIBLE_DEVICES, or of visible_devices in the settings file",
        "later ones are ignored, with a warning";
    /// The number does not include the terminator (APP-70).
    LONGEST_NAME: usize = 256, "bytes", "names that an application passes", "the name is malformed, and the call fails";
    /// The reference promises this bound (APP-194, APP-232).
    TEXT_LIMIT: usize = 511, "bytes", "the text of one message", "cut";
    MAX_DECISIONS: usize = 4096, "decisions", "decisions that a call remembers", "logged, and not remembered";
    /// Real drivers list a few hundred extensions.
    MOST_EXTENSIONS: u32 = 65_536, "extensions", "extensions that one driver reports", "later ones are ignored";
    /// Real drivers have at most a few dozen devices.
    MOST_OF_ONE_DRIVER: u32 = 65_536, "devices", "devices, and groups of devices, that one driver reports",
        "later ones are ignored";
    /// The loader queries a list again if the list grew between the two calls.
    ATTEMPTS: usize = 8, "attempts", "attempts to read a list that changes meanwhile", "what the last one gave counts";
    /// Each dispatch table of a chain has this many slots for commands that the loader does not know (GEN-68).
    UNKNOWN_SLOTS: usize = 250, "commands", "commands unknown to the loader, of each kind in one instance",
        "not found, with an error in the log";
}

#[cfg(test)]
mod tests {
    use super::TABLE;

    /// The page that promises the bounds to users.
    const PAGE: &str = include_str!("../../../docs/limits.md");

    /// Returns the quantity, bound and consequence of a line, if the line is a row of the page's first table.
    fn cells(line: &str) -> Option<[&str; 3]> {
        let mut cells = line.strip_prefix("| ")?.strip_suffix(" |")?.split(" | ");
        let row = [cells.next()?, cells.next()?, cells.next()?];
        cells.next().is_none().then_some(row)
    }

    /// Returns a bound from the page, converted to the unit of the code.
    fn written(bound: &str) -> Option<u64> {
        let (number, unit) = bound.split_once(' ')?;
        Some(number.parse::<u64>().ok()? << if unit == "MiB" { 20 } else { 0 })
    }

    #[test]
    fn bounds_are_those_that_the_page_promises() {
        // The first row names the columns.
        let promised = || PAGE.lines().filter_map(cells).skip(1);
        assert_eq!(promised().count(), TABLE.len());
        for ([what, bound, more], row) in promised().zip(TABLE) {
            assert_eq!((what, written(bound), more), (row.what, Some(row.value), row.more));
            assert!(bound.ends_with(row.unit) || bound.ends_with("MiB"), "{what}: {bound}");
        }
    }
}
