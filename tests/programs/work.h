/* A piece of real work on one device: fill a buffer there, read it back here. */
#ifndef WORK_H
#define WORK_H

#include "api.h"
#include <stdbool.h>

/* What came of it. */
struct work {
    VkResult result;     /* VK_SUCCESS, or what the step below returned */
    const char *step;    /* the last command tried */
    uint32_t words;      /* 32-bit words read back */
    uint32_t wrong;      /* of these, how many did not hold what was asked for */
    double milliseconds; /* from submission to the end of the wait */
};

/* Fetches the device's own commands into the table; may be NULL. Returns the first one not offered, or NULL. */
typedef const char *(*load_device)(struct api *api, VkDevice device);

/* Creates a device, works on it, destroys it. Everything made is gone on return. A mock driver executes nothing, so that
 * there is nothing to read back from it: pass false. */
struct work work_on(const struct api *api, VkPhysicalDevice physical, load_device load, bool read_back);

#endif
