"""calls.py BUILT PLACE LIST: calls invented commands through a built library on the mock driver.

LIST has a line for each command: its name, the handle it is dispatched on, its number of parameters. Each call must reach the driver's
function of that name, with the driver's handle and the same arguments.
"""

import ctypes
import json
import os
import shutil
import sys
from ctypes import POINTER, Structure, byref, c_char_p, c_float, c_int32, c_uint32, c_uint64, c_void_p, pointer

BUILT, PLACE, LIST = sys.argv[1:]
COMMANDS = [(name, handle, int(count)) for name, handle, count in map(str.split, open(LIST))]
# The mock driver records at most nine arguments after the handle.
NOTED = 9
VALUES = [11, 22, 33, 44, 55, 66, 77, 88, 99]


class Application(Structure):
    _fields_ = [("kind", c_int32), ("next", c_void_p), ("name", c_char_p), ("version", c_uint32), ("engine", c_char_p),
                ("engine_version", c_uint32), ("api", c_uint32)]


class Instance(Structure):
    _fields_ = [("kind", c_int32), ("next", c_void_p), ("flags", c_uint32), ("application", POINTER(Application)),
                ("layers", c_uint32), ("layer_names", c_void_p), ("extensions", c_uint32), ("extension_names", c_void_p)]


class Queue(Structure):
    _fields_ = [("kind", c_int32), ("next", c_void_p), ("flags", c_uint32), ("family", c_uint32), ("count", c_uint32),
                ("priorities", POINTER(c_float))]


class Device(Structure):
    _fields_ = [("kind", c_int32), ("next", c_void_p), ("flags", c_uint32), ("queues", c_uint32), ("queue", POINTER(Queue)),
                ("layers", c_uint32), ("layer_names", c_void_p), ("extensions", c_uint32), ("extension_names", c_void_p),
                ("features", c_void_p)]


class Pool(Structure):
    _fields_ = [("kind", c_int32), ("next", c_void_p), ("flags", c_uint32), ("family", c_uint32)]


class Buffers(Structure):
    _fields_ = [("kind", c_int32), ("next", c_void_p), ("pool", c_uint64), ("level", c_int32), ("count", c_uint32)]


def prepare():
    """Writes the mock driver's library, settings and manifest. Returns the path of the journal."""
    journal = os.path.join(PLACE, "journal.txt")
    if os.path.exists(journal):
        os.remove(journal)
    library = os.path.join(PLACE, "libmock_driver.so")
    shutil.copy(os.path.join(BUILT, "libmock_driver.so"), library)
    with open(os.path.join(PLACE, "libmock_driver.conf"), "w") as text:
        text.write(f"name mock\njournal {journal}\napi_version 1.4.0\ndevice stage\ndevice.api_version 1.4.0\n")
        for name, handle, _ in COMMANDS:
            text.write(f"{'gipa' if handle == 'VkPhysicalDevice' else 'gdpa'} {name}\n")
    manifest = os.path.join(PLACE, "mock.json")
    with open(manifest, "w") as text:
        json.dump({"file_format_version": "1.0.1", "ICD": {"library_path": library, "api_version": "1.4.0"}}, text)
    os.environ["VK_DRIVER_FILES"] = manifest
    os.environ["VK_LOADER_LAYERS_DISABLE"] = "~all~"
    return journal


def done(result, what):
    if result:
        sys.exit(f"{what} returns {result}")


def handles(vulkan):
    """Returns the instance, and one object of each kind on which commands are dispatched."""
    application = Application(0, None, b"invented", 1, None, 0, (1 << 22) | (4 << 12))
    instance, physical, device, queue = c_void_p(), c_void_p(), c_void_p(), c_void_p()
    pool, buffer = c_uint64(), c_void_p()
    done(vulkan.vkCreateInstance(byref(Instance(1, application=pointer(application))), None, byref(instance)), "vkCreateInstance")
    done(vulkan.vkEnumeratePhysicalDevices(instance, byref(c_uint32(1)), byref(physical)), "vkEnumeratePhysicalDevices")
    one = pointer(Queue(2, count=1, priorities=pointer(c_float(1))))
    done(vulkan.vkCreateDevice(physical, byref(Device(3, queues=1, queue=one)), None, byref(device)), "vkCreateDevice")
    vulkan.vkGetDeviceQueue(device, 0, 0, byref(queue))
    done(vulkan.vkCreateCommandPool(device, byref(Pool(39)), None, byref(pool)), "vkCreateCommandPool")
    done(vulkan.vkAllocateCommandBuffers(device, byref(Buffers(40, None, pool, 0, 1)), byref(buffer)), "vkAllocateCommandBuffers")
    return instance, {"VkPhysicalDevice": physical, "VkDevice": device, "VkQueue": queue, "VkCommandBuffer": buffer}


def main():
    journal = prepare()
    vulkan = ctypes.CDLL(os.path.join(BUILT, "libvulkan.so"))
    instance, objects = handles(vulkan)
    look_up = vulkan.vkGetInstanceProcAddr
    look_up.restype = c_void_p
    kinds = {"VkPhysicalDevice": "physical_device", "VkDevice": "device", "VkQueue": "queue", "VkCommandBuffer": "command_buffer"}
    wrong = []
    for name, handle, count in COMMANDS:
        address = look_up(instance, name.encode())
        if not address:
            wrong.append(f"{name} is not found")
            continue
        arguments = [c_uint64(value) for value in VALUES]
        before = len(open(journal).read())
        ctypes.CFUNCTYPE(c_uint64, c_void_p, *[c_uint64] * NOTED)(address)(objects[handle], *arguments)
        with open(journal) as text:
            line = text.read()[before:].strip()
        # The script compares only the arguments of commands named Throw. Commands with other names can have floating-point arguments, which
        # the ABI passes in other registers than integers.
        number = min(count - 1, NOTED) if "Throw" in name else 0
        start = f"mock unknown {name} {kinds[handle]}(stage) ["
        numbers = ", ".join(map(str, VALUES[:number]))
        if not line.startswith(start + numbers):
            wrong.append(f"{name}: `{start}{numbers}` was expected, `{line}` arrived")
    print("\n".join(wrong) or f"{len(COMMANDS)} invented commands arrive at the driver")
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
