//! Every environment variable that the project reads, in one table.

use core::ffi::CStr;

/// Trust in a variable: decides whether an elevated process reads the variable (APP-211).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// The variable counts as unset in an elevated process.
    Secure,
    /// The loader always reads the variable, because the variable cannot name a file to load.
    Plain,
}

/// Separators between the items in the value of a variable (APP-210).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Separator {
    /// The value is one item.
    Whole,
    /// The platform's path separator, `os::LIST_SEPARATOR`.
    Path,
    /// A comma. Blanks belong to the item.
    Comma,
}

/// Times at which the loader reads a variable (APP-216). The documentation prints them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReadAt {
    /// At each use, so a change between two API calls takes effect.
    EachUse,
    /// Once, when the library is loaded into the process.
    Load,
    /// At each scan for drivers, until a scan finds no service.
    EachScan,
}

/// One line of [`TABLE`].
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// The variable that this line describes.
    pub variable: Variable,
    /// Exact name of the variable.
    pub name: &'static str,
    /// Exact name, as a text for the C library.
    pub c_name: &'static CStr,
    /// Trust in the variable.
    pub trust: Trust,
    /// Separator between the items in the value of the variable.
    pub separator: Separator,
}

/// Documentation of a variable. A program that does not use [`DOCUMENTED`] contains none of these texts.
#[derive(Clone, Copy, Debug)]
pub struct Documented {
    /// The line of [`TABLE`].
    pub row: &'static Row,
    /// Times at which the variable is read.
    pub read_at: ReadAt,
    /// Effect of the variable, in one sentence.
    pub meaning: &'static str,
}

/// Converts a text whose only null byte is at the end.
const fn terminated(text: &'static str) -> &'static CStr {
    match CStr::from_bytes_with_nul(text.as_bytes()) {
        Ok(text) => text,
        Err(_) => panic!("the text must have exactly one null byte, at the end"),
    }
}

macro_rules! variables {
    ($($(#[$when:meta])? $variant:ident = $name:literal, $trust:ident, $separator:ident, $read_at:ident, $meaning:literal;)+) => {
        /// A variable of the process environment that the project reads.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Variable {
            $($(#[$when])? #[doc = concat!("`", $name, "`. ", $meaning)] $variant,)+
        }

        /// All variables, in the order in which the documentation lists them and in which [`Variable`] declares them.
        pub const TABLE: &[Row] = &[
            $($(#[$when])? Row {
                variable: Variable::$variant,
                name: $name,
                c_name: terminated(concat!($name, "\0")),
                trust: Trust::$trust,
                separator: Separator::$separator,
            },)+
        ];

        /// The documentation of all variables, in the order of [`TABLE`].
        pub const DOCUMENTED: &[Documented] = &[
            $($(#[$when])? Documented {
                row: &TABLE[Variable::$variant as usize],
                read_at: ReadAt::$read_at,
                meaning: $meaning,
            },)+
        ];
    };
}

variables! {
    DriverFiles = "VK_DRIVER_FILES", Secure, Path, EachUse,
        "Driver manifests, or folders of them, that replace every other place where drivers are searched.";
    IcdFilenames = "VK_ICD_FILENAMES", Secure, Path, EachUse,
        "The older name of VK_DRIVER_FILES; used only when that one is not set.";
    AddDriverFiles = "VK_ADD_DRIVER_FILES", Secure, Path, EachUse,
        "Driver manifests, or folders of them, searched before all others; ignored when a replacing variable is set.";
    #[cfg(all(feature = "service", target_os = "linux"))]
    ServiceSocket = "VK_LOADER_SERVICE_SOCKET", Secure, Whole, EachScan,
        "The socket of a driver service; empty for none at all.";
    LayerPath = "VK_LAYER_PATH", Secure, Path, EachUse,
        "Layer manifests, or folders of them, that replace the places where explicit layers are searched.";
    AddLayerPath = "VK_ADD_LAYER_PATH", Secure, Path, EachUse,
        "Places searched for explicit layers before the usual ones; ignored when VK_LAYER_PATH is set.";
    ImplicitLayerPath = "VK_IMPLICIT_LAYER_PATH", Secure, Path, EachUse,
        "Layer manifests, or folders of them, that replace the places where implicit layers are searched.";
    AddImplicitLayerPath = "VK_ADD_IMPLICIT_LAYER_PATH", Secure, Path, EachUse,
        "Places searched for implicit layers before the usual ones; ignored when VK_IMPLICIT_LAYER_PATH is set.";
    InstanceLayers = "VK_INSTANCE_LAYERS", Plain, Path, EachUse,
        "Exact names of layers to enable in every instance, nearest the application first.";
    LayersEnable = "VK_LOADER_LAYERS_ENABLE", Secure, Comma, EachUse,
        "Patterns of layer names to enable in every instance.";
    LayersDisable = "VK_LOADER_LAYERS_DISABLE", Secure, Comma, EachUse,
        "Patterns of layer names, or ~all~, ~implicit~, ~explicit~, to treat as not installed.";
    LayersAllow = "VK_LOADER_LAYERS_ALLOW", Secure, Comma, EachUse,
        "Patterns of layer names that VK_LOADER_LAYERS_DISABLE leaves alone.";
    LayersOrder = "VK_LOADER_LAYERS_ORDER", Secure, Comma, EachUse,
        "Layers in the order from the application to the driver, as in 'A>B>C': names, patterns, implicit or explicit; makes no layer active.";
    DriversSelect = "VK_LOADER_DRIVERS_SELECT", Secure, Comma, EachUse,
        "Patterns of driver manifest file names; drivers that match none of them are ignored.";
    DriversDisable = "VK_LOADER_DRIVERS_DISABLE", Secure, Comma, EachUse,
        "Patterns of driver manifest file names to ignore, unless VK_LOADER_DRIVERS_SELECT matches them too.";
    Debug = "VK_LOADER_DEBUG", Plain, Comma, Load,
        "What to report on standard error: all, error, warn, info, debug, perf, layer, driver.";
    Trace = "VK_LOADER_TRACE", Secure, Whole, Load,
        "A file, or fd: and the number of an open descriptor, to which each step and decision is written as JSON (docs/trace.md).";
    DeviceSelect = "VK_LOADER_DEVICE_SELECT", Plain, Comma, EachUse,
        "The physical device to list first: hexadecimal vendor:device, pci:0000:65:00.0, uuid:DIGITS or GPU-DIGITS (of the latter, the beginning is enough), type:discrete|integrated|virtual|cpu, driver:NAME (a part of its file name), name:PATTERN; of several, the first that a device has.";
    VisibleDevices = "VK_LOADER_VISIBLE_DEVICES", Secure, Comma, EachUse,
        "The only physical devices that an instance shows, in this order: words as for VK_LOADER_DEVICE_SELECT, or none; empty for all.";
    DriPrime = "DRI_PRIME", Secure, Whole, EachUse,
        "Mesa's word for the device to list first: a number, pci-0000_65_00_0 or hexadecimal vendor:device, each with ! to hide the others; used where no variable or setting of the loader chooses and Mesa's device-select layer is not active.";
    DisableSelect = "VK_LOADER_DISABLE_SELECT", Plain, Whole, EachUse,
        "A number other than 0 switches off all sorting of physical devices.";
    Catalogue = "VK_LOADER_CATALOGUE", Plain, Whole, Load,
        "off opens every driver; on looks for the user's own driver catalogue before the system's; verify opens every driver and reports where the catalogue says otherwise.";
    DriverPolicy = "VK_LOADER_DRIVER_POLICY", Plain, Comma, Load,
        "software-last, no-wake, keep-open, lazy or lazy-asleep (docs/catalogue.md): what else decides which drivers are opened, in place of driver_policy in the settings file.";
    DisableInstExtFilter = "VK_LOADER_DISABLE_INST_EXT_FILTER", Plain, Whole, EachUse,
        "A number other than 0 lets instance extensions pass that the loader does not know.";
    DisableLibraryUnloading = "VK_LOADER_DISABLE_DYNAMIC_LIBRARY_UNLOADING", Plain, Whole, Load,
        "Exactly 1 keeps driver and layer libraries loaded, so that leak checkers can name their symbols.";
    DeviceIdFilter = "VK_LOADER_DEVICE_ID_FILTER", Secure, Comma, EachUse,
        "Numbers or ranges; physical devices with another deviceID are hidden.";
    VendorIdFilter = "VK_LOADER_VENDOR_ID_FILTER", Secure, Comma, EachUse,
        "Numbers or ranges; physical devices with another vendorID are hidden.";
    DriverIdFilter = "VK_LOADER_DRIVER_ID_FILTER", Secure, Comma, EachUse,
        "Numbers or ranges; physical devices with another VkDriverId are hidden.";
    SearchOnlyInBundle = "VK_LOADER_SEARCH_ONLY_IN_BUNDLE", Secure, Whole, EachUse,
        "Set to anything on macOS or iOS, restricts the search to the application's bundle.";
    XdgConfigHome = "XDG_CONFIG_HOME", Secure, Path, EachUse,
        "The user's configuration folder, $HOME/.config when unset or empty.";
    XdgCacheHome = "XDG_CACHE_HOME", Secure, Whole, EachUse,
        "The user's folder for caches, $HOME/.cache when unset or empty: where the user's own driver catalogue is.";
    XdgConfigDirs = "XDG_CONFIG_DIRS", Secure, Path, EachUse,
        "The system's configuration folders, a build-time list when unset or empty.";
    XdgDataHome = "XDG_DATA_HOME", Secure, Path, EachUse,
        "The user's data folder, $HOME/.local/share when unset or empty.";
    XdgDataDirs = "XDG_DATA_DIRS", Secure, Path, EachUse,
        "The system's data folders, a build-time list when unset or empty.";
    Home = "HOME", Secure, Whole, EachUse,
        "The user's home folder, for the XDG variables that name a home.";
}

impl Variable {
    /// Returns the line of [`TABLE`] that describes this variable.
    pub fn row(self) -> &'static Row {
        // The macro above declares variants and lines together, so the discriminant is the index.
        &TABLE[self as usize]
    }

    /// Returns the exact name.
    pub fn name(self) -> &'static str {
        self.row().name
    }
}

#[cfg(test)]
mod tests {
    use super::DOCUMENTED;

    #[test]
    fn meanings_end_in_a_full_stop() {
        for documented in DOCUMENTED {
            assert!(documented.meaning.ends_with('.'), "{}", documented.row.name);
        }
    }
}
