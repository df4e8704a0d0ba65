/* A piece of real work on one device: the device fills a buffer, and the program reads the buffer back. */
#ifndef WORK_H
#define WORK_H

#include "api.h"
#include <stdbool.h>

/* The result of the work. */
struct work {
    VkResult result;     /* VK_SUCCESS, or the result of the step below */
    const char *step;    /* the last command that was called */
    uint32_t words;      /* number of 32-bit words that were read back */
    uint32_t wrong;      /* number of these words with a wrong value */
    double milliseconds; /* time from the submission to the end of the wait */
};

/* Puts the device's own commands into the table. Returns the first command that the driver does not offer, or NULL. The pointer to this
 * function may be NULL. */
typedef const char *(*load_device)(struct api *api, VkDevice device);

/* Creates a device, works on it, and destroys it with everything that was made there. With a mock driver, `read_back` must be `false`:
 * such a driver executes nothing, so there is nothing to read back. */
struct work work_on(const struct api *api, VkPhysicalDevice physical, load_device load, bool read_back);

#endif
