#!/bin/sh
# Runs inside the root of Debian that run.sh makes. Runs each program on the installed loader, and stores the output. The argument is the
# folder for the output, which contains one file for each program. The last line of a file contains the exit status of the program.
out=$1
mkdir -p "$out"
cd "$(mktemp -d)" || exit 2
# Xvfb writes to descriptor 3 when it accepts connections. With -noreset, Xvfb continues to run after the last client ends.
Xvfb :7 -noreset -screen 0 640x480x24 -nolisten tcp -displayfd 3 3>display >/dev/null 2>&1 &
server=$!
export DISPLAY=:7
for _ in $(seq 60); do
    [ ! -s display ] || break
    sleep 0.5
done

# program NAME COMMAND...: runs a command, and writes its output and its exit status to the file NAME.
program() {
    name=$1
    shift
    timeout 120 "$@" >"$out/$name" 2>&1 </dev/null
    echo "ended with $?" >>"$out/$name"
}
zink() {
    name=$1
    shift
    program "$name" env LIBGL_ALWAYS_SOFTWARE=1 GALLIUM_DRIVER=zink "$@"
}
source="-f lavfi -i testsrc=size=160x120:rate=5 -t 1"
ff="ffmpeg -v error -init_hw_device vulkan=v:0 -filter_hw_device v $source"
play="mpv --no-config --quiet --no-audio --frames=5 --gpu-api=vulkan"
device="--vulkan-device=$(vulkaninfo --summary 2>/dev/null | sed -n 's/^[[:space:]]*deviceName *= //p' | head -n 1)"

program vulkaninfo vulkaninfo
program vulkaninfo-validation env VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation vulkaninfo
program vkcube vkcube --c 20
program vkcube-validation env VK_INSTANCE_LAYERS=VK_LAYER_KHRONOS_validation vkcube --c 5 --validate
# shellcheck disable=SC2086 -- $ff contains a command and its arguments
{
    program ffmpeg-blur $ff -vf format=rgba,hwupload,avgblur_vulkan,hwdownload,format=rgba -f framemd5 -
    program ffmpeg-scale $ff -vf format=rgba,hwupload,scale_vulkan=80:60,hwdownload,format=rgba -f framemd5 -
    program ffmpeg-libplacebo $ff -vf format=yuv420p,hwupload,libplacebo=w=80:h=60,hwdownload,format=yuv420p -f framemd5 -
    ffmpeg -v error $source -c:v mpeg4 clip.mkv
    program mpv-gpu $play --vo=gpu --gpu-context=x11vk "$device" clip.mkv
    program mpv-gpu-next $play --vo=gpu-next "$device" clip.mkv
}
program gstreamer-inspect gst-inspect-1.0 vulkan
program gstreamer-filter gst-launch-1.0 -q videotestsrc num-buffers=3 ! video/x-raw,format=BGRA,width=160,height=120 ! vulkanupload ! \
    vulkancolorconvert ! 'video/x-raw(memory:VulkanImage),format=RGBA' ! vulkandownload ! checksumsink
program gstreamer-sink gst-launch-1.0 -q videotestsrc num-buffers=5 ! vulkanupload ! vulkansink
zink zink-glxinfo glxinfo
zink zink-eglinfo eglinfo
zink zink-glmark2 glmark2 --validate -b build -b texture -b shading
kill $server
