/* The work that hello.c and dlopen.c share: they list layers and drivers, then work on every device. */
#ifndef TOUR_H
#define TOUR_H

#include "work.h"

/* Functions with which a program looks up its commands. */
struct loading {
    load_instance instance; /* required */
    load_device device;     /* NULL if the commands of the instance serve all devices */
    bool mock;              /* `true` if the devices execute nothing, so that nothing can be read back */
};

/* Prints the loader, its layers, drivers and devices, and works on each device. Returns 0 if there was a device and all devices worked,
 * else 1. */
int tour(struct api *api, const struct loading *loading);

#endif
