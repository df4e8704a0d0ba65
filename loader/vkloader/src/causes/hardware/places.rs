//! Containers and sandboxes to which the host gives NVIDIA's driver, with the remedies for what is missing inside.

use super::NVIDIA_NODES;
use super::machine::Machine;
use crate::report::Report;

/// A kind of containers.
pub(super) struct Place {
    /// Value of `Report::surroundings` for containers of this kind; empty if several kinds share a value.
    word: &'static str,
    /// Files that exist only in containers of this kind.
    files: &'static [&'static str],
    /// Variables that are set only in containers of this kind.
    variables: &'static [&'static str],
    /// Text of [`KIND`]; empty if the file does not exist.
    kind: &'static str,
    /// Remedy for missing libraries of the driver. `VERSION` stands for the version of the host's kernel module.
    libraries: &'static str,
    /// Remedy for missing device nodes.
    pub(super) nodes: &'static str,
}

/// File with the kind of a container of systemd-nspawn, LXC or Incus.
pub(super) const KIND: &str = "run/systemd/container";

/// Containers of toolbox and distrobox. Such a container lasts, so that users install software in it.
const OF_HOME: Place = Place {
    word: "",
    files: &["run/.toolboxenv", "run/.distroboxenv", "etc/distrobox"],
    variables: &["DISTROBOX_ENTER_PATH", "TOOLBOX_PATH"],
    libraries: "Make the container again with NVIDIA's libraries of the host: distrobox create --nvidia ...; toolbox takes them over by itself where the \
                host has NVIDIA's container toolkit and a CDI file: nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
    nodes: "The container shows the nodes of the host, so make them there, outside of the container: nvidia-modprobe -c 0 -u",
    ..OTHER
};

/// Containers of other kinds, and the values for fields that a kind does not need.
const OTHER: Place = Place {
    word: "container",
    files: &[],
    variables: &[],
    kind: "",
    libraries: "Let NVIDIA's container tools add the libraries: docker run --runtime=nvidia --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all IMAGE, or podman \
                run --device nvidia.com/gpu=all IMAGE.",
    nodes: NVIDIA_NODES,
};

/// All kinds, each before the kinds that its containers may also seem to be.
const PLACES: [Place; 9] = [
    Place {
        word: "flatpak",
        libraries: "Install NVIDIA's libraries for Flatpak in the version of the host: flatpak install org.freedesktop.Platform.GL.nvidia-VERSION",
        ..OTHER
    },
    OF_HOME,
    Place {
        word: "apptainer",
        libraries: IN_APPTAINER,
        nodes: IN_APPTAINER,
        ..OTHER
    },
    Place {
        word: "",
        kind: "lxc",
        libraries: "Let the container use NVIDIA's libraries of the host, which needs NVIDIA's container tools there: incus config set NAME \
                    nvidia.runtime=true nvidia.driver.capabilities=all (lxc config set for LXD), and start the container again. Without these tools \
                    (Proxmox, LXC), install NVIDIA's libraries of the version VERSION in the container, without a kernel module.",
        nodes: "Hand the card to the container, and start it again: incus config device add NAME gpu gpu (lxc config device add for LXD), with incus config \
                set NAME nvidia.runtime=true if it lacks NVIDIA's libraries; Proxmox 8.2 and newer: pct set ID --dev0 /dev/nvidiactl --dev1 /dev/nvidia0 \
                --dev2 /dev/nvidia-modeset; LXC: lxc.cgroup2.devices.allow: c 195:* rwm, and a line for each node, such as lxc.mount.entry: \
                /dev/nvidiactl dev/nvidiactl none bind,optional,create=file",
        ..OTHER
    },
    Place {
        word: "",
        kind: "systemd-nspawn",
        libraries: "Install NVIDIA's libraries of the version VERSION in the container, without a kernel module: NVIDIA's installer has the option \
                    --no-kernel-modules.",
        nodes: "Hand the card to the container: systemd-nspawn --bind=/dev/nvidiactl --bind=/dev/nvidia0 --bind=/dev/nvidia-modeset \
                --property='DeviceAllow=char-nvidia* rw'",
        ..OTHER
    },
    Place {
        word: "",
        files: &["run/secrets/kubernetes.io"],
        variables: &[POD],
        libraries: "Set NVIDIA_DRIVER_CAPABILITIES=all in the environment of the pod, because NVIDIA's container tools leave out the libraries for graphics \
                    without it. The pod must also request nvidia.com/gpu in its resources, and use the runtime class nvidia where the cluster has one.",
        nodes: "Request nvidia.com/gpu in the resources of the pod, and set NVIDIA_DRIVER_CAPABILITIES=all in its environment. Where the cluster has a runtime \
                class nvidia, use it.",
        ..OTHER
    },
    Place {
        word: "podman",
        libraries: "Let NVIDIA's container tools add the libraries: podman run --device nvidia.com/gpu=all IMAGE, which needs a CDI file of the host: \
                    nvidia-ctk cdi generate --output=/etc/cdi/nvidia.yaml",
        nodes: "Make the card available to the container: podman run --device nvidia.com/gpu=all IMAGE, which needs a CDI file of the host: nvidia-ctk cdi \
                generate --output=/etc/cdi/nvidia.yaml",
        ..OTHER
    },
    Place {
        word: "docker",
        nodes: "Make the card available to the container: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all IMAGE, which needs NVIDIA's container \
                toolkit on the host.",
        ..OTHER
    },
    OTHER,
];

/// Remedy for a container on a system without a card.
const WITHOUT_CARD: &str = "The kernel of the host lists no graphics card either, so look there first (lspci -nn | grep -i -e vga -e 3d -e display). \
    Without a card, only software drivers work, such as Mesa's lavapipe.";
/// Ending of the names of kernels in the virtual machine of Docker Desktop.
const OF_DESKTOP: &str = "-linuxkit";
/// Remedy for a container of Docker Desktop.
const IN_DESKTOP: &str = "Docker Desktop runs its containers in a virtual machine, which gets no graphics card. On Linux, let Docker Engine run the container: \
    docker context use default. On macOS, podman with libkrun hands the card over: CONTAINERS_MACHINE_PROVIDER=libkrun podman machine init --now, then \
    podman run --device /dev/dri IMAGE. Otherwise only software drivers work, such as Mesa's lavapipe.";

/// Returns the remedy for a container on a system without a card.
pub(super) fn without_card(machine: &Machine) -> &'static str {
    if machine.text("proc/sys/kernel/osrelease").ends_with(OF_DESKTOP) {
        IN_DESKTOP
    } else {
        WITHOUT_CARD
    }
}

/// Variable that is set in each pod of Kubernetes.
pub(super) const POD: &str = "KUBERNETES_SERVICE_HOST";

/// Remedy for a container of Apptainer or Singularity that lacks NVIDIA's libraries or nodes.
const IN_APPTAINER: &str =
    "Let the container use NVIDIA's driver of the host: apptainer exec --nv IMAGE PROGRAM (singularity exec --nv).";

impl Place {
    /// Returns the kind of the container around the program; `None` outside of containers.
    pub(super) fn of(machine: &Machine, report: &Report) -> Option<&'static Self> {
        PLACES.iter().find(|place| place.is_around(machine, report))
    }

    fn is_around(&self, machine: &Machine, report: &Report) -> bool {
        let is_kind = || !self.kind.is_empty() && machine.text(KIND) == self.kind;
        report.runs_in(&[self.word])
            || self.files.iter().any(|file| machine.has(file))
            || self.variables.iter().any(|name| report.variables.get(name).is_some())
            || is_kind()
    }

    /// Returns the remedy for missing libraries on a host whose kernel module has the version `version`.
    pub(super) fn libraries(&self, version: Option<&str>) -> String {
        let version = version.unwrap_or("VERSION");
        if self.word == "flatpak" {
            return self.libraries.replace("VERSION", &version.replace('.', "-"));
        }
        self.libraries.replace("VERSION", version)
    }
}

/// Returns `true` in a container of toolbox or distrobox.
pub(super) fn is_of_home(machine: &Machine, report: &Report) -> bool {
    OF_HOME.is_around(machine, report)
}

/// Returns the remedy for a Flatpak program on a host whose NVIDIA driver has the version `version`.
pub(super) fn for_flatpak(version: &str) -> String {
    PLACES[0].libraries(Some(version))
}
