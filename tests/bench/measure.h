/* Declarations that the steps of a measurement share. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

/* The library under test, and the options of the command line. */
struct run {
    void *library;
    PFN_vkGetInstanceProcAddr get;
    PFN_vkCreateInstance create;
    PFN_vkDestroyInstance destroy;
    uint32_t layers;           /* number of layers that an instance enables */
    const char **layer_names;  /* names of these layers */
    int repeat;                /* number of measurements of each step */
    char **names;              /* all commands: "device vkCmdDraw", with NULL at the end */
    char *text;                /* text after `=` in the name of the step, or NULL */
};

/* A step of the command line: `NAME`, `NAME=NUMBER` or `NAME=TEXT`. */
struct step {
    const char *name;
    void (*action)(struct run *run, long number);
};
extern const struct step STEPS[];

/* `begin` starts a measurement. `end` prints the label, the nanoseconds since `begin`, and the number of operations.
 * Under callgrind and strace, `end` also writes the label into their output. */
void begin(void);
void end(const char *label, long operations);
/* Prints a value in the format of `end`. The value is not a time. */
void tell(const char *label, long value);
/* Ends the process with a message if the condition is false. */
void demand(bool condition, const char *what);
/* Returns true if a tool counts instructions. One pass through a loop is then enough. */
bool counting(void);
/* Steps in drivers.c. */
void enumerate(struct run *run, long unused);
void probes(struct run *run, long unused);
void look_at_all(struct run *run, long unused);
void use_all(struct run *run, long unused);
void direct(struct run *run, long unused);
void mapped(struct run *run, long unused);
/* Returns an exported symbol of the library. */
void *exported(const struct run *run, const char *name);

#endif
