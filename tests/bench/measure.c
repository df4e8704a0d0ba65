/* Measures one library: measure [-l LAYERS] [-r REPEAT] [-n NAMES] LIBRARY STEP...
 *
 * The program opens the library, which is the first measurement, and then performs the steps. For each measurement, it
 * prints a line with a label, a figure, and the number of operations that the figure covers. */
#include "measure.h"
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <valgrind/callgrind.h>

static long long started;
static bool traced;

static long long nanoseconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000ll + now.tv_nsec;
}

/* Writes a mark for strace, as the text of a system call. The call fails, because its descriptor is negative. */
static void mark(const char *text) {
    if (traced && write(-1, text, strlen(text)) >= 0)
        abort();
}

void begin(void) {
    mark("begin");
    started = nanoseconds();
    CALLGRIND_TOGGLE_COLLECT;
}

void end(const char *label, long operations) {
    CALLGRIND_TOGGLE_COLLECT;
    const long long now = nanoseconds();
    CALLGRIND_DUMP_STATS_AT(label);
    mark(label);
    printf("%s %lld %ld\n", label, now - started, operations);
}

void tell(const char *label, long value) {
    printf("%s %ld 1\n", label, value);
}

void demand(bool condition, const char *what) {
    if (condition)
        return;
    fflush(stdout);
    fprintf(stderr, "measure: %s\n", what);
    exit(1);
}

bool counting(void) {
    return RUNNING_ON_VALGRIND || traced;
}

void *exported(const struct run *run, const char *name) {
    void *symbol = dlsym(run->library, name);
    demand(symbol, name);
    return symbol;
}

/* Returns the lines of a file. NULL follows the last line. */
static char **lines(const char *path) {
    FILE *file = fopen(path, "r");
    demand(file, path);
    static char *found[4096];
    char line[256];
    size_t count = 0;
    while (count + 1 < sizeof found / sizeof *found && fgets(line, sizeof line, file)) {
        line[strcspn(line, "\n")] = 0;
        found[count++] = strdup(line);
    }
    fclose(file);
    return found;
}

/* Returns the names of the first layers, which the manifests of the benchmark contain. */
static const char **layer_names(uint32_t count) {
    const char **names = calloc(count + 1, sizeof *names);
    for (uint32_t i = 0; i < count; i++) {
        char name[32];
        snprintf(name, sizeof name, "VK_LAYER_BENCH_%03u", i);
        names[i] = strdup(name);
    }
    return names;
}

static void perform(struct run *run, char *text) {
    run->text = strchr(text, '=');
    if (run->text)
        *run->text++ = 0;
    for (const struct step *step = STEPS; step->name; step++)
        if (!strcmp(step->name, text)) {
            step->action(run, run->text ? strtol(run->text, NULL, 10) : 0);
            return;
        }
    demand(false, text);
}

int main(int count, char **arguments) {
    struct run run = {.repeat = 1};
    for (int option; (option = getopt(count, arguments, "l:r:n:")) != -1;) {
        demand(option != '?', "usage: measure [-l LAYERS] [-r REPEAT] [-n NAMES] LIBRARY STEP...");
        if (option == 'l')
            run.layers = (uint32_t)strtoul(optarg, NULL, 10);
        else if (option == 'r')
            run.repeat = atoi(optarg);
        else
            run.names = lines(optarg);
    }
    demand(optind < count, "which library?");
    run.layer_names = layer_names(run.layers);
    traced = getenv("MEASURE_TRACED") != NULL;

    begin();
    run.library = dlopen(arguments[optind], RTLD_NOW | RTLD_LOCAL);
    end("open", 1);
    demand(run.library, dlerror());
    run.get = (PFN_vkGetInstanceProcAddr)exported(&run, "vkGetInstanceProcAddr");
    run.create = (PFN_vkCreateInstance)exported(&run, "vkCreateInstance");
    run.destroy = (PFN_vkDestroyInstance)exported(&run, "vkDestroyInstance");
    for (int argument = optind + 1; argument < count; argument++)
        perform(&run, arguments[argument]);
    return 0;
}
