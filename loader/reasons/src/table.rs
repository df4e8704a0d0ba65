//! The table of codes with their meanings and remedies.

use super::Row;

macro_rules! codes {
    ($($(#[$when:meta])? $variant:ident = $name:literal, $meaning:literal, $remedy:literal;)+) => {
        /// Reasons why an object was dropped.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Code {
            $($(#[$when])? #[doc = concat!("`", $name, "`. ", $meaning)] $variant,)+
        }

        impl Code {
            /// Returns the name of the code. The library calls only this function and does not use [`TABLE`], so the library does not
            /// contain the meanings and remedies.
            pub const fn name(self) -> &'static str {
                match self {
                    $($(#[$when])? Self::$variant => $name,)+
                }
            }
        }

        /// All codes, in the order in which the documentation lists them and in which [`Code`] declares them.
        pub const TABLE: &[Row] = &[
            $($(#[$when])? Row {
                code: Code::$variant,
                name: $name,
                meaning: $meaning,
                remedy: $remedy,
            },)+
        ];
    };
}

codes! {
    FileNotFound = "file.not-found",
        "The file does not exist.",
        "Correct the variable or setting that names the file, or install the package that contains it.";
    FileNotOpened = "file.not-opened",
        "The file exists, but this process may not open it.",
        "Give the user read permission on the file and on the folders above it; in a sandbox, make the file visible.";
    FileNotRegular = "file.not-regular",
        "The path leads to a folder, a device or a pipe.",
        "Name the JSON file itself.";
    FileNotRead = "file.not-read",
        "The file was opened, but reading it failed.",
        "Check the disk or network drive that contains the file.";
    FileTooLarge = "file.too-large",
        "The file is larger than any real manifest.",
        "Reinstall the package that the file belongs to.";
    FileChanged = "file.changed",
        "The file changed while it was read.",
        "Start the program again once the installation that writes the file has ended.";
    FileInvalidJson = "file.invalid-json",
        "The file is not valid JSON.",
        "Correct the file, or reinstall the package that it belongs to.";
    FileNotAnObject = "file.not-an-object",
        "The file contains JSON, but not an object.",
        "Correct the file, or reinstall the package that it belongs to.";
    FileNotJsonName = "file.not-json-name",
        "The name of the file does not end in .json, so it was not opened.",
        "Rename the file, or name the manifest instead of the library.";
    FileFoundBefore = "file.found-before",
        "The same file was found before, under this or another path, and is used only once.",
        "";

    SettingsNoFormatVersion = "settings.no-format-version",
        "The settings file has no file_format_version, so it has no effect.",
        "Let the program that wrote the settings file write it again, or delete the file.";
    SettingsNoSettings = "settings.no-settings",
        "The settings file has neither settings nor settings_array, so it has no effect.",
        "Let the program that wrote the settings file write it again, or delete the file.";
    SettingsOtherExecutable = "settings.other-executable",
        "The settings file is for other programs than this one.",
        "";
    SettingsNothing = "settings.nothing",
        "The settings file contains nothing that has an effect.",
        "";

    DriverManifestNoFormatVersion = "driver-manifest.no-format-version",
        "The driver's manifest has no file_format_version.",
        "Reinstall the driver; a manifest written by hand needs \"file_format_version\": \"1.0.1\".";
    DriverManifestNoIcd = "driver-manifest.no-icd",
        "The driver's manifest has no object ICD.",
        "Reinstall the driver; a manifest written by hand needs the object \"ICD\".";
    DriverManifestOfLayer = "driver-manifest.of-layer",
        "The manifest of a layer is in a folder for drivers.",
        "Move the file to a layer folder.";
    DriverManifestNoLibraryPath = "driver-manifest.no-library-path",
        "The driver's manifest does not say where the library is.",
        "Reinstall the driver; a manifest written by hand needs \"library_path\".";
    DriverManifestEmptyLibraryPath = "driver-manifest.empty-library-path",
        "The library_path in the driver's manifest is empty.",
        "Reinstall the driver.";
    DriverManifestUnusableLibraryPath = "driver-manifest.unusable-library-path",
        "The library_path in the driver's manifest cannot be a path.",
        "Reinstall the driver.";
    DriverManifestNoApiVersion = "driver-manifest.no-api-version",
        "The driver's manifest does not say which API version it is for.",
        "Reinstall the driver; a manifest written by hand needs \"api_version\".";
    DriverManifestVariant = "driver-manifest.variant",
        "The driver is for another variant of the API, such as Vulkan SC.",
        "Install the driver for Vulkan itself.";
    DriverManifestPortability = "driver-manifest.portability",
        "The driver is a portability driver, and a program gets such drivers only on request.",
        "The program must enable VK_KHR_portability_enumeration and set its flag; ask the program's authors.";
    DriverManifestArchitecture = "driver-manifest.architecture",
        "The manifest says that the driver is for another word size than the program's.",
        "Install the driver for the program's word size too (on Debian the i386 or amd64 package of the same name).";
    DriverManifestDisabled = "driver-manifest.disabled",
        "VK_LOADER_DRIVERS_DISABLE disables this driver.",
        "Unset VK_LOADER_DRIVERS_DISABLE, or change its patterns.";
    DriverManifestNotSelected = "driver-manifest.not-selected",
        "VK_LOADER_DRIVERS_SELECT is set and does not match this driver.",
        "Unset VK_LOADER_DRIVERS_SELECT, or change its patterns, which must match the manifest's file name.";

    CatalogueNotKept = "catalogue.not-kept",
        "The driver catalogue belongs to another user, or other users may write to it, so it is ignored.",
        "Write it again with vkloader catalogue update, as the superuser or with --user.";
    CatalogueInvalid = "catalogue.invalid",
        "The file is not a driver catalogue for this architecture, or exceeds a limit.",
        "Write it again with vkloader catalogue update.";
    CatalogueOtherSchema = "catalogue.other-schema",
        "A program of another version wrote the driver catalogue, in another format.",
        "Write it again with the vkloader that belongs to this loader.";
    CatalogueOtherLoader = "catalogue.other-loader",
        "The driver catalogue was made with another version of the loader, so every driver is opened.",
        "Run vkloader catalogue update.";
    CatalogueVariable = "catalogue.variable",
        "A variable that drivers read has another value than when the driver catalogue was made, so every driver is opened.",
        "";
    CatalogueNoDevice = "catalogue.no-device",
        "According to the driver catalogue, the driver has no device on this machine, so the driver was not opened.",
        "Run vkloader catalogue update if this is no longer true; VK_LOADER_CATALOGUE=off opens every driver.";
    CatalogueHidden = "catalogue.hidden",
        "The driver catalogue has the devices of the driver, and none of them is in the list of visible devices.",
        "Unset VK_LOADER_VISIBLE_DEVICES, or add a word for one of its devices; vkloader devices prints the words.";
    CatalogueSoftware = "catalogue.software",
        "The driver computes on the processor, and a policy allows such drivers only if no other driver has a device.",
        "Remove software-last from VK_LOADER_DRIVER_POLICY, or from driver_policy in the settings file.";
    CatalogueAsleep = "catalogue.asleep",
        "All devices of the driver are suspended, and a policy forbids waking them.",
        "Remove no-wake from VK_LOADER_DRIVER_POLICY, or from driver_policy in the settings file.";
    CatalogueCrashed = "catalogue.crashed",
        "The driver crashed or ended its process when the driver catalogue was made, so it was not opened.",
        "Update or remove the driver, then run vkloader catalogue update; VK_LOADER_CATALOGUE=off opens it anyway.";
    CatalogueHung = "catalogue.hung",
        "The driver did not answer when the driver catalogue was made, so it was not opened.",
        "Update or remove the driver, then run vkloader catalogue update; VK_LOADER_CATALOGUE=off opens it anyway.";
    #[cfg(feature = "service")]
    ServiceNotReached = "service.not-reached",
        "The driver service is switched on, but the loader cannot connect to its socket.",
        "Start the service, or make its socket visible in the sandbox; an empty VK_LOADER_SERVICE_SOCKET switches it off.";
    #[cfg(feature = "service")]
    ServiceNotTrusted = "service.not-trusted",
        "The user who runs the driver service is not trusted with the code of drivers.",
        "Run the service from its own unit, so that the superuser opens its socket.";
    #[cfg(feature = "service")]
    ServiceTimeout = "service.timeout",
        "The driver service did not answer in time.",
        "Check the state of the service, because it may be waiting for a driver that never becomes ready.";
    #[cfg(feature = "service")]
    ServiceLost = "service.lost",
        "The connection to the driver service ended during a request.",
        "Check whether the service was restarted; the next scan connects again.";
    #[cfg(feature = "service")]
    ServiceRefused = "service.refused",
        "The driver service refused the request.",
        "See the word in the answer: busy means that the service could not send a file, timeout that a driver did not become ready.";
    #[cfg(feature = "service")]
    ServiceBadReply = "service.bad-reply",
        "The driver service sent a malformed answer, or not exactly one file with it.",
        "Install a service and a loader of the same version.";
    #[cfg(feature = "service")]
    ServiceNoLibrary = "service.no-library",
        "The driver service no longer has a library with that key and checksum.",
        "Start the program again: the driver was changed or removed meanwhile.";
    #[cfg(feature = "service")]
    ServiceOtherWordSize = "service.other-word-size",
        "The driver service has drivers only for programs of the other word size.",
        "Install the driver for the program's word size too, and run vk-loader-service packages as the superuser.";
    #[cfg(feature = "service")]
    ServiceFileNotTrusted = "service.file-not-trusted",
        "The driver service sent a file that users other than the superuser can change.",
        "Make the superuser the owner of the driver's library, or let the service seal a copy of it.";
    #[cfg(feature = "service")]
    ServiceOldCLibrary = "service.old-c-library",
        "The driver of the service, or a library that it needs, was built for a newer C library than the program's, or for another C library.",
        "Update the sandbox's runtime, or package a driver that was built for an older system. A program with musl needs drivers for musl.";

    DriverNotOpened = "driver.not-opened",
        "The system could not open the driver's library.",
        "Install the libraries that it needs; the system's message names the first missing one.";
    DriverWrongArchitecture = "driver.wrong-architecture",
        "The driver's library is for another processor or word size than the program.",
        "Install the driver for the program's word size too (on Debian the i386 or amd64 package of the same name).";
    DriverNegotiationRefused = "driver.negotiation-refused",
        "The driver supports no version of the interface that the loader supports.",
        "Update the driver, or the loader.";
    DriverNoGetInstanceProcAddr = "driver.no-get-instance-proc-addr",
        "The driver negotiated an interface whose vk_icdGetInstanceProcAddr it does not export.",
        "Check that library_path names the driver itself, and reinstall the driver.";
    DriverNoEntryPoint = "driver.no-entry-point",
        "The library exports no function of a Vulkan driver.",
        "Check that library_path names the driver itself, and reinstall the driver.";
    DriverNoExport = "driver.no-export",
        "The library lacks a function that a driver of the oldest interface exports.",
        "Check that library_path names the driver itself, and reinstall the driver.";
    DriverNoGlobalFunction = "driver.no-global-function",
        "The driver was opened, but does not return its first functions, most often because it did not find one of its own libraries.",
        "Install the driver's companion libraries; for NVIDIA's these are libGLX_nvidia, libGLX and libX11.";
    DriverExtensionQueryFailed = "driver.extension-query-failed",
        "The driver failed to list its extensions.",
        "Look for messages of the driver itself, and for its kernel module.";
    DriverCreationFailed = "driver.creation-failed",
        "The driver failed to create an instance.",
        "Look for messages of the driver itself; its kernel module may be missing, or of another version than the driver.";
    DriverNullInstance = "driver.null-instance",
        "The driver reported that it created an instance, but returned none.",
        "Update the driver, and report this to its authors.";
    DriverNoRequiredCommand = "driver.no-required-command",
        "The driver's instance lacks a function that every driver must have.",
        "Update the driver, and report this to its authors.";
    DriverNoDevices = "driver.no-devices",
        "The driver works, but there is no device for it that this process may use.",
        "Without such hardware there is nothing to do; with it, check the kernel module and the permissions of /dev/dri.";
    DriverDirectNoFunction = "driver.direct-no-function",
        "The program passed a driver without its first function.",
        "This is a defect of the program.";
    DriverDirectNoCommand = "driver.direct-no-command",
        "A driver that the program passed lacks a function.",
        "This is a defect of the program, or of the driver that it brings.";
    DriverDirectVersion = "driver.direct-version",
        "A driver that the program passed supports only versions of the interface that are too old.",
        "This is a defect of the program, or of the driver that it brings.";
    DriverDirectVersionQueryFailed = "driver.direct-version-query-failed",
        "A driver that the program passed failed to report its version.",
        "This is a defect of the program, or of the driver that it brings.";

    LayerManifestNoFormatVersion = "layer-manifest.no-format-version",
        "The layer's manifest has no file_format_version.",
        "Reinstall the layer.";
    LayerManifestNoLayer = "layer-manifest.no-layer",
        "The manifest describes no layer.",
        "Reinstall the layer.";
    LayerManifestOfDriver = "layer-manifest.of-driver",
        "The manifest of a driver is in a folder for layers.",
        "Move the file to a driver folder.";
    LayerManifestRepeatedLayer = "layer-manifest.repeated-layer",
        "The manifest has several objects named layer, but only one of them counts.",
        "The manifest should have an array named layers; report this to the layer's authors.";
    LayerManifestElementNotObject = "layer-manifest.element-not-object",
        "An element of the manifest's array layers is not an object, so the rest of the file was left out.",
        "Reinstall the layer.";

    LayerNoField = "layer.no-field",
        "The layer's manifest lacks something that each layer needs.",
        "Reinstall the layer.";
    LayerDeviceLayer = "layer.device-layer",
        "Layers that are only for devices have been obsolete since Vulkan 1.0.13.",
        "Install a newer version of the layer.";
    LayerUnknownType = "layer.unknown-type",
        "The manifest gives the layer an unknown type.",
        "Reinstall the layer.";
    LayerVariant = "layer.variant",
        "The layer is for another variant of the API, such as Vulkan SC.",
        "";
    LayerLibraryAndComponents = "layer.library-and-components",
        "The manifest has both a library and component layers, but a layer may have only one of them.",
        "Correct the manifest.";
    LayerNoLibraryNorComponents = "layer.no-library-nor-components",
        "The manifest has neither a library nor component layers.",
        "Correct the manifest.";
    LayerNoDisableEnvironment = "layer.no-disable-environment",
        "An implicit layer must name the variable that switches it off, but this layer does not.",
        "Reinstall the layer, or correct its manifest.";
    LayerBadDisableEnvironment = "layer.bad-disable-environment",
        "The object disable_environment of the implicit layer names no variable.",
        "Reinstall the layer, or correct its manifest.";
    LayerArchitecture = "layer.architecture",
        "The manifest says that the layer is for another word size than the program's.",
        "Install the layer for the program's word size too.";

    LayerDuplicate = "layer.duplicate",
        "A layer of the same name was found before, and is used instead.",
        "Remove one of the two manifests.";
    LayerDisabled = "layer.disabled",
        "VK_LOADER_LAYERS_DISABLE disables this layer.",
        "Unset VK_LOADER_LAYERS_DISABLE, or name the layer in VK_LOADER_LAYERS_ALLOW.";
    LayerComponentMissing = "layer.component-missing",
        "A layer that this meta-layer is made of is not installed.",
        "Install the component layer.";
    LayerComponentOlder = "layer.component-older",
        "A layer that this meta-layer is made of is for an older version of the API.",
        "Update the component layer.";
    LayerListsItself = "layer.lists-itself",
        "The meta-layer lists itself among its components.",
        "Correct the manifest.";
    LayerRecursive = "layer.recursive",
        "The components of the meta-layer contain the meta-layer itself.",
        "Correct one of the manifests.";
    LayerComponentInvalid = "layer.component-invalid",
        "A meta-layer that this one is made of cannot be used itself.",
        "See the reason of the component.";
    LayerBlacklisted = "layer.blacklisted",
        "The active override layer excludes this layer.",
        "Change the configuration in the program that made the override layer, such as Vulkan Configurator.";
    LayerOtherExecutable = "layer.other-executable",
        "The override layer is for other programs than this one.",
        "";
    LayerSecondGlobalOverride = "layer.second-global-override",
        "Another override layer for all programs was found before.",
        "Remove one of the two manifests.";
    LayerOverrideShadowed = "layer.override-shadowed",
        "Another override layer, made for this program, is used.",
        "";
    LayerNotListedInSettings = "layer.not-listed-in-settings",
        "The settings file asks for another layer of this manifest.",
        "";
    LayerListedTwice = "layer.listed-twice",
        "The settings file lists the layer twice.",
        "Let the program that wrote the settings file write it again.";
    LayerListedInSettings = "layer.listed-in-settings",
        "The settings file lists a layer of this name, so the layer found here is ignored.",
        "";
    LayerInactive = "layer.inactive",
        "The layer is installed, but nothing switches it on.",
        "";
    LayerSwitchedOff = "layer.switched-off",
        "The layer is switched off by the variable that its manifest names for this purpose.",
        "Unset the variable.";
    LayerNotSwitchedOn = "layer.not-switched-on",
        "The layer is inactive, because the variable that switches it on is unset or has another value.",
        "";

    LayerLibraryNotOpened = "layer-library.not-opened",
        "The system could not open the layer's library.",
        "Install the libraries that it needs; the system's message names the first missing one.";
    LayerLibraryWrongArchitecture = "layer-library.wrong-architecture",
        "The layer's library is for another processor or word size than the program.",
        "Install the layer for the program's word size too.";
    LayerLibraryNoSymbol = "layer-library.no-symbol",
        "The layer's library lacks a function that a layer must export.",
        "Reinstall the layer.";
    LayerLibraryNegotiationRefused = "layer-library.negotiation-refused",
        "The layer refuses to work with the loader.",
        "Update the layer, or remove it.";
    LayerLibraryNoPreInstanceFunction = "layer-library.no-pre-instance-function",
        "The layer's library lacks a function that its manifest promises.",
        "Reinstall the layer.";

    DeviceIdFilter = "device.id-filter",
        "A variable hides the device by its numbers.",
        "Unset VK_LOADER_DEVICE_ID_FILTER, VK_LOADER_VENDOR_ID_FILTER or VK_LOADER_DRIVER_ID_FILTER.";
    DeviceNotConfigured = "device.not-configured",
        "The settings file lists devices, but not this one.",
        "Change the settings in the program that wrote them, or delete the settings file.";
    DeviceNotVisible = "device.not-visible",
        "A list of visible devices, in a variable or the settings file, does not have this device.",
        "Unset VK_LOADER_VISIBLE_DEVICES, or add a word for the device; vkloader devices prints the words.";
    DeviceServed = "device.served",
        "The driver of the service reports a device that an installed driver serves too.",
        "Nothing: the device is listed once, by the installed driver. Remove that driver to use the one of the service.";
    DeviceGroupNotConfigured = "device.group-not-configured",
        "The settings file does not list a device of this group.",
        "Change the settings in the program that wrote them, or delete the settings file.";
    DeviceEnumerationFailed = "device.enumeration-failed",
        "The driver failed to list its devices.",
        "Look for messages of the driver itself, and for its kernel module.";
    DeviceGroupsFailed = "device.groups-failed",
        "The driver failed to list its device groups.",
        "Look for messages of the driver itself.";
}
