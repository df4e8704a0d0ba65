/* Work on a real device: the device fills a buffer, and the program reads the buffer back. */
#ifndef WORK_H
#define WORK_H

#include "api.h"
#include <stdbool.h>

/* The result of filling a buffer on a device and reading the buffer back. */
struct work {
    VkResult result;     /* VK_SUCCESS, or the result of the step below */
    const char *step;    /* the last command that was called */
    uint32_t words;      /* number of 32-bit words that were read back */
    uint32_t wrong;      /* number of these words with a wrong value */
    double milliseconds; /* time from the submission to the end of the wait */
};

/* Looks up the commands of a device and puts them into the table. Returns the name of the first missing command, or
 * NULL. A pointer of this type can be NULL. */
typedef const char *(*load_device)(struct api *api, VkDevice device);

/* Creates a device, fills a buffer on it, and destroys the device with all its objects. With a mock driver, `read_back`
 * must be `false`, because a mock driver executes nothing. */
struct work work_on(const struct api *api, VkPhysicalDevice physical, load_device load, bool read_back);

#endif
