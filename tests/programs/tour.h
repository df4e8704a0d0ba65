/* What hello and dlopen do once they have the global commands: look around, then work on every device. */
#ifndef TOUR_H
#define TOUR_H

#include "work.h"

/* How a program gets at commands. */
struct loading {
    load_instance instance; /* required */
    load_device device;     /* NULL: the commands of the instance serve all devices */
    bool mock;              /* whether devices execute nothing, so that nothing is read back */
};

/* Prints what it finds; returns 0 if there was a device and all of them worked, else 1. */
int tour(struct api *api, const struct loading *loading);

#endif
