/* What tests/windows/sources.c and its driver tell each other. */
#pragma once
#include <stdint.h>

#define MOST_DEVICES 8
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LAYERED_DRIVER_PROPERTIES_MSFT_ 1000530000

struct said {
    char name[16];          /* of devices; their number follows */
    uint32_t version;       /* of the driver interface; 6 when zero */
    uint32_t devices;       /* how many there are */
    int order[MOST_DEVICES];/* numbers of the devices of an adapter */
    uint32_t ordered;       /* how many these are */
    int result;             /* what listing them ends with, unless zero */
    int layered;            /* underlyingAPI of all devices; the extension is there unless zero */
    int unlisted;           /* whether that extension is not in the list, though its property is answered */
    uint64_t luids[2];      /* of the last two adapters that were asked for, the last one first */
    uint32_t asked;         /* how often one was */
    uint32_t features;      /* what the loader can do, as it told the layer */
};
