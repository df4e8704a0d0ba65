"""Files of a measured process: drivers, layer manifests, or the drivers of the system."""

import json
import shutil
import time
from dataclasses import dataclass
from pathlib import Path

# Maximum number of layer libraries. If a scene has more manifests, the additional manifests name libraries of the first layers again,
# because no benchmark opens so many layers.
LAYER_LIBRARIES = 32

# Age in seconds after which the library under test stores the state of a file in its scan cache, plus a margin.
SETTLING = 2.1

# Members that make a layer implicit. No variable enables the layer, but every query reads its manifest.
SWITCHES = {"enable_environment": {"BENCH_LAYER": "1"}, "disable_environment": {"NO_BENCH_LAYER": "1"}}


@dataclass(frozen=True)
class Scene:
    """Numbers of drivers and layer manifests on disk, and of the layers that an instance enables."""

    drivers: int = 1
    manifests: int = 0
    layers: int = 0
    # `True` for the drivers and implicit layers that are installed on this machine.
    installed: bool = False

    @property
    def shown_manifests(self):
        """Returns the number of manifests on disk: at least those of the active layers."""
        return max(self.manifests, self.layers)

    def __str__(self):
        if self.installed:
            return "the installed drivers"
        words = [(self.drivers, "driver"), (self.layers, "layer"), (self.shown_manifests, "layer manifest")]
        return ", ".join(f"{count} {word}{'' if count == 1 else 's'}" for count, word in words)


class Stage:
    """Scratch folder in which each scene is set up once."""

    def __init__(self, folder, programs):
        self.folder, self.programs = Path(folder), Path(programs)
        (self.folder / "home").mkdir()
        (self.folder / "lib").mkdir()

    def _library(self, kind, number):
        """Copies a library, because the dynamic linker treats two links to one file as one library."""
        copy = self.folder / "lib" / f"{kind}_{number:03}.so"
        if not copy.exists():
            shutil.copy(self.programs / f"{kind}.so", copy)
        return str(copy)

    def _driver(self, number):
        body = {"library_path": self._library("driver", number), "api_version": "1.3.239"}
        return {"file_format_version": "1.0.1", "ICD": body}

    def _layer(self, number, more):
        tooling = {"name": "VK_EXT_tooling_info", "spec_version": "1"}
        tooling["entrypoints"] = ["vkGetPhysicalDeviceToolPropertiesEXT"]
        body = {
            **more,
            "name": f"VK_LAYER_BENCH_{number:03}",
            "type": "GLOBAL",
            "library_path": self._library("layer", number % LAYER_LIBRARIES),
            "api_version": "1.3.239",
            "implementation_version": "1",
            "description": f"Layer {number} of the bench",
            "instance_extensions": [{"name": "VK_EXT_debug_report", "spec_version": "10"}],
            "device_extensions": [tooling],
        }
        return {"file_format_version": "1.2.0", "layer": body}

    def prepare(self, scenes):
        """Sets up scenes, and waits until their files are old enough for the scan cache."""
        for scene in scenes:
            self.environment(scene)
        time.sleep(SETTLING)

    def environment(self, scene):
        """Sets up the scene, and returns the whole environment of a process in it."""
        basic = {"HOME": str(self.folder / "home"), "PATH": "/usr/bin:/bin"}
        if scene.installed:
            return basic
        data = self.folder / f"d{scene.drivers:03}-m{scene.shown_manifests:03}-l{scene.layers:03}"
        if not data.exists():
            for number in range(scene.drivers):
                self._write(data / "vulkan/icd.d", number, self._driver(number))
            for number in range(scene.shown_manifests):
                implicit = number >= scene.layers and number % 2 == 1
                folder = "implicit_layer.d" if implicit else "explicit_layer.d"
                self._write(data / "vulkan" / folder, number, self._layer(number, SWITCHES if implicit else {}))
        return {**basic, "XDG_DATA_DIRS": str(data), "XDG_CONFIG_DIRS": str(self.folder / "home")}

    @staticmethod
    def _write(folder, number, content):
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{number:03}.json").write_text(json.dumps(content, indent=4))
