/* What the steps of a measurement share. */
#ifndef MEASURE_H
#define MEASURE_H

#include <stdbool.h>
#include <stdint.h>
#include <vulkan/vulkan.h>

/* The library under test, and what the command line says. */
struct run {
    void *library;
    PFN_vkGetInstanceProcAddr get;
    PFN_vkCreateInstance create;
    PFN_vkDestroyInstance destroy;
    uint32_t layers;           /* how many layers an instance enables */
    const char **layer_names;  /* and which */
    int repeat;                /* how often each step is measured */
    char **names;              /* all commands: "device vkCmdDraw", up to NULL */
    char *text;                /* what the command line has behind the name of the step, or NULL */
};

/* A step of the command line, `NAME`, `NAME=NUMBER` or `NAME=TEXT`. */
struct step {
    const char *name;
    void (*action)(struct run *run, long number);
};
extern const struct step STEPS[];

/* The two ends of what is measured. `end` prints the label, the nanoseconds since `begin`, and how many operations that
 * was; under callgrind and strace it leaves the label in their output. */
void begin(void);
void end(const char *label, long operations);
/* Prints something else than a time, under the same kind of label. */
void tell(const char *label, long value);
/* Ends the process with a message unless the condition holds. */
void demand(bool condition, const char *what);
/* Whether instructions are counted: one pass through a loop is then as good as many. */
bool counting(void);
/* Steps of drivers.c. */
void enumerate(struct run *run, long unused);
void probes(struct run *run, long unused);
void look_at_all(struct run *run, long unused);
void use_all(struct run *run, long unused);
void direct(struct run *run, long unused);
void mapped(struct run *run, long unused);
/* An exported symbol of the library. */
void *exported(const struct run *run, const char *name);

#endif
