//! Codes of this program's own findings. `loader/reasons` has the codes of the library's decisions.

use super::{Dropped, Facts, rank};

/// A code of this program, with its meaning and its remedy.
#[derive(Debug)]
pub(crate) struct Row {
    /// Name of the code in reports.
    pub(crate) name: &'static str,
    /// Kind of the finding's subject, for example `program` or `variable`.
    subject: &'static str,
    rank: u8,
    /// Meaning of the code, as one sentence.
    pub(crate) meaning: &'static str,
    /// Remedy for the user, as one sentence; empty if the finding is harmless.
    pub(crate) remedy: &'static str,
}

macro_rules! rows {
    ($($constant:ident = $name:literal, $subject:literal, $rank:expr, $meaning:literal, $remedy:literal;)+) => {
        $(#[doc = concat!("`", $name, "`. ", $meaning)] pub(crate) const $constant: &Row = &Row {
            name: $name,
            subject: $subject,
            rank: $rank,
            meaning: $meaning,
            remedy: $remedy,
        };)+

        /// All codes, in the order of the documentation.
        #[cfg(test)]
        pub(crate) const TABLE: &[&Row] = &[$($constant),+];
    };
}

rows! {
    PROGRAM_CRASHED = "program.crashed", "program", rank::FIRST,
        "A signal ended the program.",
        "Examine the program itself, for example in a debugger.";
    PROGRAM_HUNG = "program.hung", "program", rank::FIRST,
        "The program did not end within its time limit.",
        "Give the program more time with --timeout, or examine it in a debugger.";
    PROGRAM_EXITED = "program.exited", "program", rank::FIRST,
        "The program exited during a call, most often because a driver or layer ended the process.",
        "Examine the program itself, for example in a debugger.";
    PROGRAM_ENDED = "program.ended", "program", rank::ASIDE,
        "A signal ended the program without a fault in its code, such as a request to end.",
        "";
    PROGRAM_KILLED = "program.killed", "program", rank::FIRST,
        "Another process or the kernel ended the program with SIGKILL.",
        "Check in dmesg whether the kernel ended the program because memory ran short; otherwise another process ran kill -9.";
    PROGRAM_CALL_FAILED = "program.call-failed", "program", rank::STATUS - 2,
        "A call of the program failed, and then the program ended with a failure.",
        "Compare the request of the call with the features of the device, which vulkaninfo lists.";
    PROGRAM_CHOSE_NONE = "program.chose-none", "program", rank::STATUS,
        "The program listed the devices, created none of them, and ended with a failure.",
        "Read the last lines that the program printed: most often it asks for a newer version of Vulkan, or for an extension or a feature that no device has.";
    PROGRAM_FAILED = "program.failed", "program", rank::STATUS,
        "The program ended with a status that means failure.",
        "Read the output of the program, and the calls that failed.";
    PROGRAM_CHILD_CRASHED = "program.child-crashed", "program", rank::STATUS - 1,
        "A process that the program started crashed, and the program ended with a failure.",
        "Examine the process that crashed: the program may have failed because of it.";
    PROGRAM_FAILED_EARLY = "program.failed-early", "program", rank::FIRST,
        "The program ended with a failure before it opened a Vulkan loader.",
        "Read the lines that it printed: the reason is in the program, or in what starts it (a script, a launcher, a sandbox), not in a driver.";
    PROGRAM_NO_INSTANCE = "program.no-instance", "program", rank::NOTHING,
        "The program opened the library but never created an instance, so the library searched for no driver.",
        "Run the program so that it uses Vulkan; it may have chosen another graphics API, such as OpenGL.";
    PROGRAM_LISTED_NONE = "program.listed-none", "program", rank::ASIDE,
        "The program created an instance, but did not list the devices, so the devices here are those of a process of vkloader.",
        "";
    PROGRAM_WORD_SIZE = "program.word-size", "program", rank::FIRST,
        "The program is for another word size or processor than vkloader, so it left no trace.",
        "Start the vkloader that is built for such programs.";
    PROGRAM_NO_TRACE = "program.no-trace", "program", rank::FIRST,
        "The program left no trace, so its devices are unknown.",
        "Start vkloader where the program runs, in place of the program.";
    INSTANCE_LAYER_MISSING = "instance.layer-missing", "program", rank::REFUSED,
        "The program asked for a layer that is not installed, so it got no instance.",
        "Install the layer, or start the program without the option that asks for it.";
    INSTANCE_LAYER_LEFT_OUT = "instance.layer-left-out", "program", rank::REFUSED,
        "The program asked for a layer that is installed but left out, so it got no instance.",
        "Remove what leaves the layer out, or start the program without the option that asks for it.";
    INSTANCE_EXTENSION_MISSING = "instance.extension-missing", "program", rank::REFUSED,
        "The program asked for an instance extension that no driver or layer has, so it got no instance.",
        "Install a driver that has the extension; for an extension about windows, the driver must support the window system.";
    INSTANCE_FAILED = "instance.failed", "program", rank::CONSEQUENCE,
        "The program got no instance.",
        "See the other findings, and the calls that failed.";
    DISPLAY_MISSING = "display.missing", "program", rank::STATUS - 1,
        "There is no display on which the program could open a window.",
        "Start the program in a graphical session, or set DISPLAY or WAYLAND_DISPLAY to the display of such a session.";
    DISPLAY_WITHOUT_DRI3 = "display.without-dri3", "program", rank::STATUS - 1,
        "The X server lacks DRI3, which Mesa's hardware drivers need to show pictures.",
        "Start the program in a local session, or in a remote desktop whose server offers DRI3; software drivers do not need DRI3: VK_LOADER_DRIVERS_SELECT=*lvp* PROGRAM";
    VARIABLE_NO_MATCH = "variable.no-match", "variable", rank::SILENT + 2,
        "A word in a variable matches nothing, so it has no effect.",
        "Correct the word, or unset the variable.";
    VARIABLE_OF_PROGRAM = "variable.of-program", "variable", rank::FIRST,
        "A variable that the program itself reads leaves out each graphics card.",
        "Choose a device that exists, or unset the variable.";
    VARIABLE_WINDOW_SYSTEM = "variable.window-system", "variable", rank::REFUSED - 1,
        "A variable makes the program use a window system that is not available.",
        "Unset the variable, or choose a window system that is available.";
    LAYER_OLDER = "layer.older", "layer", rank::ASIDE,
        "The layer is for an older version of the API than the program asks for.",
        "Update the layer, or start the program without it.";
    LAYER_NO_INSTANCE = "layer.no-instance", "layer", rank::ASIDE,
        "No instance was created, so no layer was used.",
        "";
    LAYER_CALL_FAILED = "layer.call-failed", "layer", rank::SILENT,
        "A call fails with the layer, and succeeds without it.",
        "Update the layer, or start the program without it.";
    LAYER_HIDES_EXTENSIONS = "layer.hides-extensions", "layer", rank::STATUS - 1,
        "A layer hides extensions of the device from a program that failed.",
        "Update the layer, or start the program without it.";
    LAYER_HIDES_FEATURES = "layer.hides-features", "layer", rank::STATUS - 1,
        "A layer hides features of the device from a program that failed.",
        "Update the layer, or start the program without it.";
    SEARCH_REPLACED = "search.replaced", "variable", rank::SILENT,
        "A variable replaces all places where the loader searches for drivers.",
        "If this is unintended, unset the variable.";
    SEARCH_FOLDER_CLOSED = "search.folder-closed", "folder", rank::HARDWARE - 2,
        "This user may not read a folder of manifests.",
        "Give the user permission to read and search the folder.";
    SETTINGS_ACTIVE = "settings.active", "settings file", rank::SILENT,
        "A settings file changes which layers, drivers or devices are used.",
        "If this is unintended, delete the file, or change it with the program that wrote it, such as Vulkan Configurator.";
    SETTINGS_NO_MATCH = "settings.no-match", "settings file", rank::SILENT + 2,
        "A word in the settings file matches nothing, so it has no effect.",
        "Correct the word in the settings file.";
    LAYER_OVERRIDE_ACTIVE = "layer.override-active", "layer", rank::SILENT,
        "An override layer changes which layers are used, and may replace the places where the loader searches for layers.",
        "If this is unintended, delete its manifest, or change it with Vulkan Configurator.";
    DRIVER_NAMED_TWICE = "driver.named-twice", "driver", rank::ASIDE,
        "Several manifests name this driver, so its devices are listed several times.",
        "Remove all but one of these manifests.";
    DRIVER_NONE_HAS_DEVICE = "driver.none-has-device", "driver", rank::NOTHING,
        "Drivers are installed, but none of them found a device that it can use.",
        "See the finding about each driver, and the hardware that the system lists.";
    DRIVER_NONE_INSTALLED = "driver.none-installed", "driver", rank::NOTHING,
        "No Vulkan driver is installed in the folders that this program searches.",
        "Install a driver: mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-radeon, vulkan-intel or vulkan-swrast (Arch), or the \
         driver from the maker of your graphics card; in a sandbox, its graphics extension.";
    DEVICE_HIDDEN_BY_LAYER = "device.hidden-by-layer", "device", rank::SILENT,
        "A layer hides the device from the program.",
        "Start the program without the layer, or change the settings that the layer reads.";
    DEVICE_HIDDEN_BY_LOADER = "device.hidden-by-loader", "device", rank::BROKEN - 1,
        "The Vulkan loader that programs get does not list this device, but another loader does.",
        "Update that loader, or install the library of this project in its place.";
    LOADER_NOT_OPENED = "loader.not-opened", "loader", rank::REFUSED - 1,
        "Programs do not find a Vulkan loader that they can open.",
        "Install the loader: libvulkan1 (Debian, Ubuntu), vulkan-loader (Fedora, Alpine) or vulkan-icd-loader (Arch).";
    LOADER_FAILED = "loader.failed", "loader", rank::REFUSED - 1,
        "The Vulkan loader that programs get fails, but another loader works.",
        "Update or reinstall that loader.";
    LOADER_REFUSES_MANIFEST = "loader.refuses-manifest", "driver manifest", rank::REFUSED - 1,
        "The Vulkan loader that programs get fails because of this manifest.",
        "Correct the file, or reinstall the package that it belongs to.";
    DEVICE_MOVED_BY_LAYER = "device.moved-by-layer", "layer", rank::ASIDE,
        "A layer changed the order of the devices.",
        "Start the program without the layer, or change the settings that the layer reads.";
    DEVICE_LISTED_TWICE = "device.listed-twice", "device", rank::ASIDE - 1,
        "Two drivers list the same graphics card, so programs see it twice.",
        "Leave one of the two drivers out, or remove its package.";
    DEVICE_NOT_CREATED = "device.not-created", "device", rank::BROKEN,
        "The device is listed, but vkCreateDevice fails for it.",
        "Look for messages of the driver, and check its kernel module; until then, choose another device.";
    DEVICE_CANNOT_PRESENT = "device.cannot-present", "device", rank::STATUS - 2,
        "No queue family of the device can show images on the surface of the program.",
        "Start the program on a display that this graphics card drives, or choose another device (vkloader devices prints the words for VK_LOADER_DEVICE_SELECT).";
    HARDWARE_NO_PERMISSION = "hardware.no-permission", "hardware", rank::HARDWARE,
        "This user may not open the device node of the graphics card.",
        "Give the user permission to read and write the node.";
    HARDWARE_NO_KERNEL_DRIVER = "hardware.no-kernel-driver", "hardware", rank::HARDWARE,
        "No kernel driver is bound to the graphics card.",
        "Load the kernel module of the card (amdgpu, i915, xe, nouveau or nvidia), or find out in dmesg why the module does not load.";
    HARDWARE_NO_SYS = "hardware.no-sys", "hardware", rank::HARDWARE,
        "The kernel's list of devices (/sys) is missing, so drivers do not find the graphics card.",
        "In a container or sandbox, make the list available: bwrap --ro-bind /sys /sys; elsewhere, mount it: mount -t sysfs sysfs /sys.";
    HARDWARE_NOMODESET = "hardware.nomodeset", "hardware", rank::HARDWARE,
        "The kernel was started with nomodeset, so no kernel driver uses the graphics card.",
        "Remove nomodeset from the kernel's command line, and start the machine again.";
    HARDWARE_FOR_GUESTS = "hardware.for-guests", "hardware", rank::HARDWARE,
        "The graphics card is reserved for a virtual machine, so programs on this system cannot use it.",
        "Bind the card to its own kernel driver instead, or use it in the virtual machine.";
    HARDWARE_NOUVEAU = "hardware.nouveau", "hardware", rank::HARDWARE,
        "NVIDIA's driver is installed, but the kernel driver nouveau uses the card.",
        "Load NVIDIA's kernel module instead of nouveau, or install Mesa's driver for nouveau.";
    HARDWARE_NO_NODE = "hardware.no-node", "hardware", rank::HARDWARE,
        "The graphics card has a kernel driver, but its device node is missing.",
        "In a container or sandbox, make the node available: --device /dev/dri, bwrap --dev-bind /dev/dri /dev/dri, or PrivateDevices=no for systemd; elsewhere, look in dmesg for messages of the kernel driver.";
    HARDWARE_REMOVED = "hardware.removed", "hardware", rank::ASIDE - 6,
        "A graphics card whose driver is installed is not on the PCI bus.",
        "If a tool switched the card off, switch it on with this tool; otherwise look in the firmware (BIOS) and at the plug.";
    HARDWARE_NO_DRIVER = "hardware.no-driver", "hardware", rank::HARDWARE,
        "No Vulkan driver for the graphics card is installed in the folders that this program searches.",
        "Install the Vulkan driver of the card: the driver of Mesa (mesa-vulkan-drivers in Debian, Ubuntu and Fedora) or the driver of the card's maker.";
    HARDWARE_NO_MANIFEST = "hardware.no-manifest", "hardware", rank::HARDWARE,
        "The Vulkan driver of the graphics card is installed, but no manifest names it.",
        "Reinstall the package of the driver, or write its manifest.";
    HARDWARE_NOT_USED = "hardware.not-used", "hardware", rank::HARDWARE,
        "The graphics card has a kernel driver and a Vulkan driver, but the Vulkan driver lists no device for the card.",
        "Update the Vulkan driver, because the card may be newer than the driver; look in dmesg for messages of the kernel driver.";
    HARDWARE_WITHOUT_VULKAN = "hardware.without-vulkan", "hardware", rank::ASIDE - 6,
        "No Vulkan driver exists for the graphics card, or for its kernel driver.",
        "Use a software driver, such as Mesa's lavapipe: mesa-vulkan-drivers (Debian, Ubuntu, Fedora) or vulkan-swrast (Arch); in a virtual machine, choose a card that can draw, such as virtio-gpu with Venus.";
    HARDWARE_NVIDIA_VERSIONS = "hardware.nvidia-versions", "hardware", rank::HARDWARE,
        "NVIDIA's kernel module and user libraries have different versions.",
        "Start the machine again after an update of the driver; in a container, install the libraries of the host's version.";
    HARDWARE_NVIDIA_CAPABILITIES = "hardware.nvidia-capabilities", "hardware", rank::HARDWARE,
        "The container gets NVIDIA's card without the libraries for graphics.",
        "Start the container with NVIDIA_DRIVER_CAPABILITIES=all, or add graphics to the list.";
    HARDWARE_DISPLAY_ONLY = "hardware.display-only", "hardware", rank::ASIDE - 6,
        "The graphics card only shows pictures: it has no render node, so no driver can draw with it.",
        "Use a software driver, such as Mesa's lavapipe: mesa-vulkan-drivers (Debian, Ubuntu, Fedora) or vulkan-swrast (Arch); in a virtual machine, choose a card that can draw, such as virtio-gpu with Venus.";
    HARDWARE_NONE = "hardware.none", "hardware", rank::ASIDE - 6,
        "The system lists no graphics card.",
        "Without a graphics card, only software drivers work, such as Mesa's lavapipe.";
}

impl Row {
    /// Returns the rank of findings with this code.
    pub(crate) fn rank(&self) -> u8 {
        self.rank
    }

    /// Returns a finding with this code about a general subject, which `words` denotes.
    pub(crate) fn about_any(&self, words: &str) -> Dropped {
        Dropped {
            is_general: true,
            ..self.about(words)
        }
    }

    /// Returns a finding with this code about the subject `name`.
    pub(crate) fn about(&self, name: impl Into<String>) -> Dropped {
        let name = name.into();
        Dropped {
            subject: self.subject.into(),
            code: self.name.into(),
            variable: (self.subject == "variable").then(|| name.clone()),
            absent: None,
            name,
            file: None,
            source: None,
            named_by: None,
            reason: self.meaning.into(),
            findings: Facts::new(),
            advice: self.remedy.into(),
            set: None,
            is_general: false,
            names_file: false,
            rank: self.rank,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_code_is_in_the_documentation() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/codes.md");
        let page = std::fs::read_to_string(path).expect("the page is there");
        for row in TABLE {
            let line = format!("| `{}` | {} | {} |", row.name, row.meaning, row.remedy);
            assert!(page.lines().any(|known| known == line), "docs/codes.md lacks: {line}");
            assert!(
                reasons::Code::of_name(row.name).is_none(),
                "{} is a code of the library",
                row.name
            );
        }
    }
}
