/* The data that tests/windows/sources.c exchanges with its driver. */
#pragma once
#include <stdint.h>

#define MOST_DEVICES 8
#define VK_STRUCTURE_TYPE_PHYSICAL_DEVICE_LAYERED_DRIVER_PROPERTIES_MSFT_ 1000530000

struct said {
    char name[16];          /* name of the devices, without their number */
    uint32_t version;       /* version of the driver interface, or zero for 6 */
    uint32_t devices;       /* number of devices */
    int order[MOST_DEVICES];/* numbers of the devices that an adapter has */
    uint32_t ordered;       /* number of the devices in the list */
    int result;             /* result of listing the devices, unless zero */
    int layered;            /* underlyingAPI of all devices; unless zero, the devices have the extension */
    int unlisted;           /* nonzero if the extension is not in the list, although the driver answers its property */
    uint64_t luids[2];      /* numbers of the last two adapters that the loader asked for, the last first */
    uint32_t asked;         /* number of times that the loader asked for an adapter */
    uint32_t features;      /* features of the loader that the layer received */
};
