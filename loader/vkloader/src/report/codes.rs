//! Codes of the findings that this program makes itself. `loader/reasons` has the codes of the library's decisions.

use super::{Dropped, rank};

/// A code of this program.
#[derive(Debug)]
pub(crate) struct Row {
    /// Name of the code in reports.
    pub(crate) name: &'static str,
    /// Kind of the finding's subject, such as `program` or `variable`.
    subject: &'static str,
    rank: u8,
    /// Meaning of the code, as one sentence.
    pub(crate) meaning: &'static str,
    /// Remedy, as one sentence; empty if the finding is harmless.
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
        "The program was ended by a signal.",
        "Look at the program itself, for example in a debugger.";
    PROGRAM_HUNG = "program.hung", "program", rank::FIRST,
        "The program did not end within the time that it had.",
        "Give it more time with --timeout, or look at it in a debugger.";
    PROGRAM_EXITED = "program.exited", "program", rank::FIRST,
        "The program ended itself in the middle of a call, most often because a driver or layer did.",
        "Look at the program itself, for example in a debugger.";
    PROGRAM_ENDED = "program.ended", "program", rank::ASIDE,
        "The program was ended from outside, by a signal that asks for that.",
        "";
    PROGRAM_KILLED = "program.killed", "program", rank::FIRST,
        "The program was ended from outside by SIGKILL.",
        "Look in dmesg whether the kernel ended the program because memory ran short; otherwise something ran kill -9.";
    PROGRAM_CALL_FAILED = "program.call-failed", "program", rank::STATUS - 2,
        "A call of the program failed, and then the program ended with a failure.",
        "Compare what the call asks for with what the device has: vulkaninfo lists that.";
    PROGRAM_FAILED = "program.failed", "program", rank::STATUS,
        "The program ended with a status that says that it failed.",
        "Read what the program printed, and the calls that failed.";
    PROGRAM_NO_INSTANCE = "program.no-instance", "program", rank::NOTHING,
        "The program opened the library and never created an instance, so no driver was looked for.",
        "Run the program so that it uses Vulkan; it may have chosen another interface, such as OpenGL.";
    PROGRAM_WORD_SIZE = "program.word-size", "program", rank::FIRST,
        "The program is for another word size or processor than vkloader, so it left no trace.",
        "Start the vkloader that is built for such programs.";
    INSTANCE_LAYER_MISSING = "instance.layer-missing", "program", rank::REFUSED,
        "The program asked for a layer that is not installed, so it got no instance.",
        "Install the layer, or start the program without the option that asks for it.";
    INSTANCE_EXTENSION_MISSING = "instance.extension-missing", "program", rank::REFUSED,
        "The program asked for an instance extension that no driver or layer has, so it got no instance.",
        "Install a driver that has the extension; for those of windows, one with support for the window system.";
    INSTANCE_FAILED = "instance.failed", "program", rank::CONSEQUENCE,
        "The program got no instance.",
        "See the other findings, and the calls that failed.";
    DISPLAY_MISSING = "display.missing", "program", rank::STATUS - 1,
        "There is no display on which the program could open a window.",
        "Start the program in a graphical session, or set DISPLAY or WAYLAND_DISPLAY to that of one.";
    DISPLAY_WITHOUT_DRI3 = "display.without-dri3", "program", rank::STATUS - 1,
        "The X server lacks DRI3, without which Mesa's drivers show no pictures of a graphics card.",
        "Start the program in the session of the card itself, or in a remote desktop whose server offers DRI3; software drivers need none: VK_LOADER_DRIVERS_SELECT=*lvp* PROGRAM";
    VARIABLE_NO_MATCH = "variable.no-match", "variable", rank::SILENT + 2,
        "A word in a variable matches nothing, so it has no effect.",
        "Correct the word, or unset the variable.";
    LAYER_OLDER = "layer.older", "layer", rank::ASIDE,
        "The layer is for an older version of the API than the program asks for.",
        "Update the layer, or start the program without it.";
    LAYER_NO_INSTANCE = "layer.no-instance", "layer", rank::ASIDE,
        "No instance was created, so no layer came into play.",
        "";
    LAYER_CALL_FAILED = "layer.call-failed", "layer", rank::SILENT,
        "A call fails with the layer, and succeeds without it.",
        "Update the layer, or start the program without it.";
    SEARCH_REPLACED = "search.replaced", "variable", rank::SILENT,
        "A variable replaces all places where drivers are looked for.",
        "If this is unintended, unset the variable.";
    SEARCH_FOLDER_CLOSED = "search.folder-closed", "folder", rank::NOTHING - 1,
        "This user may not read a folder of manifests.",
        "Give the user permission to read and search the folder.";
    SETTINGS_ACTIVE = "settings.active", "settings file", rank::SILENT,
        "A settings file decides about layers, drivers or devices.",
        "If this is unintended, delete the file, or change it with the program that wrote it, such as Vulkan Configurator.";
    SETTINGS_NO_MATCH = "settings.no-match", "settings file", rank::SILENT + 2,
        "A word in the settings file matches nothing, so it has no effect.",
        "Correct the word in the settings file.";
    LAYER_OVERRIDE_ACTIVE = "layer.override-active", "layer", rank::SILENT,
        "An override layer decides about layers, and may replace the places where they are looked for.",
        "If this is unintended, delete its manifest, or change it with Vulkan Configurator.";
    DRIVER_NAMED_TWICE = "driver.named-twice", "driver", rank::ASIDE,
        "Several manifests name this driver, so its devices come several times.",
        "Remove all but one of these manifests.";
    DRIVER_NONE_HAS_DEVICE = "driver.none-has-device", "driver", rank::NOTHING,
        "Drivers are installed, and none of them found a device that it can use.",
        "See the reason of each driver, and the hardware that the system shows.";
    DRIVER_NONE_INSTALLED = "driver.none-installed", "driver", rank::NOTHING,
        "No Vulkan driver is installed where this program looks.",
        "Install a driver: mesa-vulkan-drivers (Debian, Ubuntu, Fedora), vulkan-radeon, vulkan-intel or vulkan-swrast (Arch), or the \
         driver of your graphics card's maker; in a sandbox, its extension for graphics.";
    DEVICE_HIDDEN_BY_LAYER = "device.hidden-by-layer", "device", rank::SILENT,
        "A layer hides the device from the program.",
        "Start the program without the layer, or change what the layer reads.";
    DEVICE_HIDDEN_BY_LOADER = "device.hidden-by-loader", "device", rank::BROKEN - 1,
        "The Vulkan loader that programs get does not list this device, and another one does.",
        "Update that loader, or install the library of this project in its place.";
    LOADER_NOT_OPENED = "loader.not-opened", "loader", rank::REFUSED - 1,
        "Programs do not find a Vulkan loader that they can open.",
        "Install the loader: libvulkan1 (Debian, Ubuntu), vulkan-loader (Fedora, Alpine) or vulkan-icd-loader (Arch).";
    LOADER_FAILED = "loader.failed", "loader", rank::REFUSED - 1,
        "The Vulkan loader that programs get fails where another one works.",
        "Update or reinstall that loader.";
    LOADER_REFUSES_MANIFEST = "loader.refuses-manifest", "driver manifest", rank::REFUSED - 1,
        "The Vulkan loader that programs get fails because of this manifest.",
        "Correct the file, or reinstall the package that it belongs to.";
    DEVICE_MOVED_BY_LAYER = "device.moved-by-layer", "layer", rank::ASIDE,
        "A layer changed the order of the devices.",
        "Start the program without the layer, or change what the layer reads.";
    DEVICE_NOT_CREATED = "device.not-created", "device", rank::BROKEN,
        "The device is listed, but vkCreateDevice fails for it.",
        "Look for messages of the driver, and for its kernel module; until then, choose another device.";
    HARDWARE_NO_PERMISSION = "hardware.no-permission", "hardware", rank::HARDWARE,
        "This user may not open the device node of the graphics card.",
        "Give the user permission to read and write the node.";
    HARDWARE_NO_KERNEL_DRIVER = "hardware.no-kernel-driver", "hardware", rank::HARDWARE,
        "No kernel driver is bound to the graphics card.",
        "Load the kernel module of the card (amdgpu, i915, xe, nouveau or nvidia), or look in dmesg why it does not load.";
    HARDWARE_NO_SYS = "hardware.no-sys", "hardware", rank::HARDWARE,
        "The kernel's list of devices (/sys) is not here, so drivers do not find the graphics card.",
        "In a container or sandbox, hand it in: bwrap --ro-bind /sys /sys; elsewhere: mount -t sysfs sysfs /sys.";
    HARDWARE_NOMODESET = "hardware.nomodeset", "hardware", rank::HARDWARE,
        "The kernel was started with nomodeset, so that no kernel driver takes the graphics card.",
        "Remove nomodeset from the kernel's command line, and start the machine again.";
    HARDWARE_FOR_GUESTS = "hardware.for-guests", "hardware", rank::HARDWARE,
        "The graphics card is held for a virtual machine, so that programs here cannot use it.",
        "Bind the card to its own kernel driver instead, or use it in the virtual machine.";
    HARDWARE_NOUVEAU = "hardware.nouveau", "hardware", rank::HARDWARE,
        "NVIDIA's driver is installed, and the kernel driver nouveau holds the card.",
        "Load NVIDIA's kernel module instead of nouveau, or install Mesa's driver for nouveau.";
    HARDWARE_NO_NODE = "hardware.no-node", "hardware", rank::HARDWARE,
        "The graphics card has a kernel driver, and its device node is not there.",
        "In a container or sandbox, hand in the node: --device /dev/dri; elsewhere, look in dmesg for messages of the kernel driver.";
    HARDWARE_NO_DRIVER = "hardware.no-driver", "hardware", rank::HARDWARE,
        "No Vulkan driver for the graphics card is installed where this program looks.",
        "Install the Vulkan driver of the card: that of Mesa (mesa-vulkan-drivers in Debian, Ubuntu and Fedora) or that of the card's maker.";
    HARDWARE_NO_MANIFEST = "hardware.no-manifest", "hardware", rank::HARDWARE,
        "The Vulkan driver of the graphics card is installed, and no manifest leads to it.",
        "Reinstall the package of the driver, or write its manifest.";
    HARDWARE_NOT_USED = "hardware.not-used", "hardware", rank::HARDWARE,
        "The graphics card has a kernel driver and a Vulkan driver, and the Vulkan driver lists no device for it.",
        "Update the Vulkan driver, because the card may be newer than it; look in dmesg for messages of the kernel driver.";
    HARDWARE_WITHOUT_VULKAN = "hardware.without-vulkan", "hardware", rank::ASIDE - 6,
        "The graphics card has a kernel driver for which there is no Vulkan driver.",
        "Use a software driver, such as Mesa's lavapipe; in a virtual machine, choose a card that can draw, such as virtio-gpu with Venus.";
    HARDWARE_NVIDIA_VERSIONS = "hardware.nvidia-versions", "hardware", rank::HARDWARE,
        "NVIDIA's kernel module and user libraries are of different versions.",
        "Start the machine again after an update of the driver; in a container, install the libraries of the host's version.";
    HARDWARE_NVIDIA_CAPABILITIES = "hardware.nvidia-capabilities", "hardware", rank::HARDWARE,
        "The container gets NVIDIA's card without the libraries for graphics.",
        "Start the container with NVIDIA_DRIVER_CAPABILITIES=all, or with graphics in the list.";
    HARDWARE_DISPLAY_ONLY = "hardware.display-only", "hardware", rank::ASIDE - 6,
        "The graphics card only shows pictures: it has no render node, so no driver can draw with it.",
        "Use a software driver, such as Mesa's lavapipe; in a virtual machine, choose a card that can draw, such as virtio-gpu with Venus.";
    HARDWARE_NONE = "hardware.none", "hardware", rank::ASIDE - 6,
        "The system shows no graphics card.",
        "Without a graphics card only software drivers work, such as Mesa's lavapipe.";
}

impl Row {
    /// Returns a finding with this code about the subject `name`.
    pub(crate) fn about(&self, name: impl Into<String>) -> Dropped {
        Dropped {
            subject: self.subject.into(),
            code: self.name.into(),
            name: name.into(),
            file: None,
            source: None,
            named_by: None,
            reason: self.meaning.into(),
            findings: Vec::new(),
            advice: self.remedy.into(),
            set: None,
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
