"""Table of the clients, with a row for each."""

from client import Client
from install import HERE, Apt, Built, Copied, Crate, Npm, Pip, Windows
from cases import ROOT

ADDRESS = (r"\b0x[0-9a-f]{6,16}\b", "<address>")
# Pattern and replacement that put each element of a list in Qt's output on a separate line.
LIST = (r"QVector\(|\), |\)\)", "\n")
# Pattern of lines about layers. Their order differs, because a loader may read the manifests of a folder in the order in which the system
# returns them.
LAYER = r".*\bVK_LAYER_\w+.*"
ZINK = {"MESA_LOADER_DRIVER_OVERRIDE": "zink", "LIBGL_KOPPER_DRI2": "1", "LIBGL_ALWAYS_SOFTWARE": "1"}
GSTREAMER = [
    Apt("gstreamer1.0-plugins-bad", "/usr/lib/*/gstreamer-1.0/libgstvulkan.so"),
    Apt("gstreamer1.0-plugins-base", "/usr/lib/*/gstreamer-1.0/libgstvideotestsrc.so"),
    Apt("gstreamer1.0-tools", "gst-launch-1.0"),
]
CHROMIUM = [Copied("chromium", "/usr/lib/chromium/chromium", "/usr/lib/chromium")]
# Command that replaces Chromium's loader, which is in Chromium's own folder.
OTHER_LOADER = [["ln", "-sfn", "{library}", "{system}/chromium/libvulkan.so.1"]]
# Options of Chromium for WebGL. This mode is named after SwiftShader, but uses the driver in VK_DRIVER_FILES.
WEBGL = ["--headless", "--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader"]
WEBGL += ["--user-data-dir=../home/data"]
MESSAGE_OF_CHROMIUM = (r"^\[[\d:/.]+:(ERROR|WARNING|INFO):.*\n", "")
QT5 = "/usr/lib/*/qt5/examples/vulkan/hellovulkan"
QML = [Apt("qml-qt6", "/usr/lib/qt6/bin/qml")] + [
    Apt(f"qml6-module-{name}", f"/usr/lib/*/qt6/qml/{folder}")
    for name, folder in [("qtquick", "QtQuick/qmldir"), ("qtquick-window", "QtQuick/Window"), ("qtqml", "QtQml/qmldir")]
    + [("qtqml-models", "QtQml/Models"), ("qtqml-workerscript", "QtQml/WorkerScript")]
]
# Path of Wine's server, which depends on the release of the package.
WINESERVER = "/usr/lib/wine:$(echo /usr/lib/*-linux-gnu/wine)"
WINE = {"WINEDEBUG": "-all", "WINEDLLOVERRIDES": "mscoree,mshtml="}


def qt5(example):
    """Returns the path of a Qt 5 example, which depends on the processor."""
    return ["sh", "-c", f"exec {QT5}{example}/hellovulkan{example}"]


CLIENTS = [
    Client(
        "vulkaninfo",
        [Apt("vulkan-tools", "vulkaninfo")],
        ["vulkaninfo", "--show-formats"],
        "prints all that can be asked",
        proof="llvmpipe",
        display=True,
        # Removes the amount of free memory, which newer drivers report, and which changes between runs.
        normalise=[(r"^\s*(usage|budget) +=.*", "")],
        limit=120,
    ),
    Client(
        "vkcube",
        [Apt("vulkan-tools", "vkcube")],
        ["vkcube"],
        "a turning cube in a window",
        window="frames",
    ),
    Client(
        "ash",
        [Built("ash", ROOT / "Cargo.lock")],
        ["{own}/ash-client"],
        "a device, a filled buffer read back (tests/ash_client)",
        proof="1 of 1 devices worked",
    ),
    Client(
        "vulkano",
        [Built("vulkano", HERE / "rust/Cargo.lock", HERE / "rust/Cargo.toml")],
        ["{rust}/vulkano-client"],
        "features, and a compute shader's numbers",
        proof="llvmpipe(.|\n)* 0 wrong",
        normalise=[ADDRESS],
    ),
    Client(
        "wgpu-info",
        [Crate("wgpu-info", "27.0.0")],
        ["{crates}/wgpu-info", "-v"],
        "adapters with features, limits, formats",
        proof="Backend: Vulkan\n.*llvmpipe",
        variables={"WGPU_BACKEND": "vulkan"},
    ),
    Client(
        "wgpu, Python",
        [Pip(("wgpu==0.32.0",))],
        ["{python}", "{programs}/wgpu_client.py"],
        "a compute shader's numbers, a triangle",
        proof="llvmpipe(.|\n)*computed: ",
        variables={"WGPU_BACKEND": "vulkan"},
    ),
    Client(
        "taichi",
        [Pip(("taichi==1.7.4", "setuptools"))],
        ["{python}", "{programs}/taichi_client.py"],
        "two kernels, a picture",
        proof="Arch.vulkan sum: ",
        variables={"TI_ENABLE_TORCH": "0", "TI_ENABLE_PADDLE": "0"},
    ),
    Client(
        "ncnn",
        [Pip(("ncnn==1.0.20261020", "numpy"))],
        ["{python}", "{programs}/ncnn_client.py"],
        "a network of four layers on the device",
        proof="llvmpipe(.|\n)*status: 0",
    ),
    Client(
        "vulkan, Python",
        [Pip(("vulkan==1.3.275.1",))],
        ["{python}", "{programs}/vulkan_client.py"],
        "queries, a device, a filled buffer read back",
        proof="llvmpipe(.|\n)*filled: 78563412",
    ),
    Client(
        "Deno",
        [Pip(("deno==2.9.8",))],
        ["{scripts}/deno", "run", "--no-remote", "--unstable-webgpu", "-A", "{programs}/deno.js"],
        "WebGPU: a compute shader's numbers, a triangle",
        proof="llvmpipe(.|\n)*computed: ",
        variables={"NO_COLOR": "1", "DENO_NO_UPDATE_CHECK": "1", "DENO_WEBGPU_BACKEND": "vulkan"},
    ),
    Client(
        "Dawn",
        [Npm("webgpu", "0.6.2"), Apt("nodejs", "node"), Apt("npm", "npm")],
        ["node", "{programs}/dawn.mjs"],
        "WebGPU of Chromium: a compute shader's numbers, a triangle",
        proof="llvmpipe(.|\n)*computed: ",
        variables={"CLIENT_MODULES": "{modules}"},
    ),
    Client(
        "Chromium",
        CHROMIUM,
        ["{system}/chromium/chromium", *WEBGL, "--dump-dom", "{programs}/webgl.html"],
        "WebGL through ANGLE on Vulkan: what the renderer offers, and a triangle's pixels",
        proof="llvmpipe(.|\n)*error 0, sum",
        before=OTHER_LOADER,
        normalise=[MESSAGE_OF_CHROMIUM],
    ),
    Client(
        "Chromium, screenshot",
        CHROMIUM,
        ["{system}/chromium/chromium", *WEBGL, "--window-size=400,300", "--screenshot=page.png"]
        + ["{programs}/webgl.html"],
        "the same on a page",
        before=OTHER_LOADER,
        normalise=[MESSAGE_OF_CHROMIUM],
    ),
    Client(
        "FFmpeg",
        [Apt("ffmpeg", "ffmpeg")],
        ["ffmpeg", "-hide_banner", "-nostats", "-v", "verbose", "-init_hw_device", "vulkan=vk"]
        + ["-filter_hw_device", "vk", "-f", "lavfi", "-i", "testsrc=size=320x240:rate=5", "-frames:v", "5", "-vf"]
        + ["format=yuv420p,hwupload,avgblur_vulkan=sizeX=5,hflip_vulkan,hwdownload,format=yuv420p"]
        + ["-bitexact", "-f", "framemd5", "frames.md5"],
        "two filters on five frames",
        proof="llvmpipe",
        # The program's threads print additional lines in any order, so only the lines of AVHWDeviceContext are compared.
        normalise=[ADDRESS, (r"^(?!\[AVHWDeviceContext).*\n", "")],
        unordered=LAYER,
    ),
    Client(
        "GStreamer",
        GSTREAMER,
        ["gst-launch-1.0", "-q", "videotestsrc", "num-buffers=3", "!"]
        + ["video/x-raw,format=RGBA,width=320,height=240", "!", "vulkanupload", "!"]
        + ["vulkancolorconvert", "!", "video/x-raw(memory:VulkanImage),format=BGRA", "!"]
        + ["vulkandownload", "!", "filesink", "location=frames.raw"],
        "uploads, converts and downloads three frames",
    ),
    Client(
        "mpv",
        [Apt("mpv", "mpv"), Apt("vulkan-tools", "vulkaninfo")],
        ["mpv", "--no-config", "--no-audio", "--vo=gpu", "--gpu-api=vulkan", "--gpu-context=x11vk"]
        + ["--vulkan-device={device}", "--pause", "--no-osc", "--osd-level=0", "--term-status-msg="]
        + ["--keep-open=yes", "av://lavfi:testsrc2=size=320x240:rate=1:duration=1"],
        "a paused film of one frame in a window",
        proof="VO: \\[gpu\\]",
        window="still",
        # When the test stops mpv, mpv may print this line.
        normalise=[(r"^client removed during hook handling\n", "")],
    ),
    Client(
        "zink, glxinfo",
        [Apt("libgl1-mesa-dri", "/usr/lib/*/dri/zink_dri.so"), Apt("mesa-utils", "glxinfo")],
        ["glxinfo", "-l"],
        "OpenGL on Vulkan: all that can be asked",
        proof="renderer string: zink",
        variables=ZINK,
        display=True,
        # Removes the amount of free memory, which changes between runs.
        normalise=[(r"^ +\w+ free (aux\. )?memory - total: .*\n", ""), (r"^ +Currently available .*\n", "")],
    ),
    Client(
        "zink, glmark2",
        [Apt("glmark2-x11", "glmark2"), Apt("libgl1-mesa-dri", "/usr/lib/*/dri/zink_dri.so")],
        ["glmark2", "--validate", "--off-screen"],
        "OpenGL on Vulkan: all scenes, checked by themselves",
        proof="zink(.|\n)*Validation: Success",
        variables=ZINK,
        display=True,
        limit=300,
        normalise=[(r"^ *glmark2 Score: .*$", "")],
    ),
    Client(
        "SDL testvulkan",
        [Apt("libsdl2-tests", "/usr/libexec/installed-tests/SDL2/testvulkan")],
        ["/usr/libexec/installed-tests/SDL2/testvulkan"],
        "clears a window in changing colours",
        window="moving",
        normalise=[(r"[\d.]+ frames per second", "<rate>")],
    ),
    Client(
        "Qt 5 hellovulkantexture",
        [Apt("qtbase5-examples", QT5 + "texture/hellovulkantexture")],
        qt5("texture"),
        "QVulkanWindow: a turning texture",
        proof="llvmpipe",
        window="frames",
        variables={"QT_LOGGING_RULES": "qt.vulkan=true"},
        normalise=[ADDRESS, LIST],
        unordered=LAYER,
    ),
    Client(
        "Qt 5 hellovulkancubes",
        [Apt("qtbase5-examples", QT5 + "cubes/hellovulkancubes")],
        qt5("cubes"),
        "QVulkanWindow: instanced cubes from worker threads",
        proof="llvmpipe",
        window="moving",
        variables={"QT_LOGGING_RULES": "qt.vulkan=true"},
        normalise=[ADDRESS, LIST],
        unordered=LAYER,
    ),
    Client(
        "Qt 6 Quick",
        QML,
        ["/usr/lib/qt6/bin/qml", "{programs}/scene.qml"],
        "a scene graph on Vulkan, a still scene",
        proof="backend Vulkan(.|\n)*llvmpipe",
        window="still",
        variables={"QSG_RHI_BACKEND": "vulkan", "QSG_INFO": "1"},
        normalise=[ADDRESS],
    ),
    Client(
        "vkd3d-triangle",
        [Apt("vkd3d-demos", "vkd3d-triangle")],
        ["vkd3d-triangle"],
        "Direct3D 12 on Vulkan: a triangle in a window",
        window="still",
        normalise=[ADDRESS, (r"^[0-9a-f]{4}:", "")],
    ),
    Client(
        "Wine, gpu.exe",
        [Apt("wine", "wine"), Windows()],
        ["wine", "{windows}/gpu.exe"],
        "a program for Windows: compute, a headless render",
        proof="llvmpipe.* 0 wrong; triangle of \\d+ pixels: ok",
        variables=WINE,
        display=True,
        before=[["wine", "wineboot", "--init"]],
        after=[["sh", "-c", f"PATH=$PATH:{WINESERVER} wineserver --kill --wait"]],
        limit=180,
    ),
]
