"""Defines the settings of a process of the soak test: the number of threads, the layers, the driver, and the use of devices."""

import os
from dataclasses import dataclass

import layers
import loader
from cases import Skip, setting

THREADS = (1, 2, 4, 8)
# Numbers of rounds in a process, which alternate from process to process. With one round, each thread of the process only creates its first
# instance.
ROUNDS = (1, 5)


@dataclass(frozen=True)
class Setting:
    """Properties of a process. The test adds up the results of processes whose properties are equal."""

    threads: int
    stack: str
    driver: str
    devices: bool

    def __str__(self):
        return (
            f"{self.threads} threads, {self.stack}, {self.driver}, {'with' if self.devices else 'without'} devices"
        )

    def arguments(self, rounds):
        """Returns the command-line arguments of the program."""
        return [str(self.threads), str(rounds)] + ["devices"] * self.devices


def stacks(skipped):
    """Returns the sets of layers by name: none, each installed layer alone, and all installed layers. Prints the layers that are not
    installed."""
    found = {"no layer": ()}
    for layer in layers.LAYERS:
        try:
            layer.require()
            found[layer.name.removeprefix("VK_LAYER_")] = (layer,)
        except Skip as skip:
            skipped.append(f"{layer.name}: {skip}")
    if len(found) > 2:
        found["all stacked"] = tuple(layer for alone in found.values() for layer in alone)
    return found


def drivers(skipped):
    """Returns the drivers by name: the manifests to read, and True if the program can create devices."""
    found = {"no driver": ("/nonexistent.json", False), "mock driver": (_mock(), True)}
    try:
        found["lavapipe"] = (loader.lavapipe(), True)
    except Skip as skip:
        skipped.append(f"lavapipe: {skip}")
    return found


def _mock():
    return setting("VKL_PROGRAMS") / "mock/mock_driver.json"


def matrix(words, skipped):
    """Returns all settings whose text contains each of the words, with their environment variables."""
    base = {**loader.environment(loader.ours()), **kept()}
    found = []
    for stack, members in stacks(skipped).items():
        for driver, (manifest, usable) in drivers(skipped).items():
            variables = {**base, **layers.variables_of(members), "VK_DRIVER_FILES": str(manifest)}
            for threads in THREADS:
                for devices in (False, True) if usable else (False,):
                    setting_ = Setting(threads, stack, driver, devices)
                    if all(word in str(setting_) for word in words):
                        found.append((setting_, variables))
    return found


def kept():
    """Returns the variables for a home folder without a user's settings of layers, and the options of a memory checker."""
    home = {"HOME": str(loader.scratch("home"))}
    return {**home, **{name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")}}
