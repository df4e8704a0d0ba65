/* Code that hello.c and dlopen.c share. Both programs list layers and drivers, and then do the work of work.h on every
 * device. */
#ifndef TOUR_H
#define TOUR_H

#include "work.h"

/* Functions through which one of the two programs looks up its commands. */
struct loading {
    load_instance instance; /* required */
    load_device device;     /* NULL if the commands of the instance serve all devices */
    bool mock;              /* `true` if the devices execute nothing, so the program cannot read results back */
};

/* Prints the loader, its layers, drivers and devices, and does the work of work.h on each device. Returns 0 if there is a
 * device and the work succeeds on all devices, and 1 otherwise. */
int tour(struct api *api, const struct loading *loading);

#endif
