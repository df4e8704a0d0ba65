// A program that creates an instance, and fails where the variable WRONG selects (see wrong.hpp).
#include "vulkan.hpp"
#include "wrong.hpp"
#include <dlfcn.h>
#include <sys/resource.h>
#include <sys/wait.h>

static void *allocate(void *, size_t size, size_t, int) {
    at("program", "allocate");
    return malloc(size);
}
static void *reallocate(void *, void *old, size_t size, size_t, int) { return realloc(old, size); }
static void release(void *, void *memory) {
    at("program", "release");
    free(memory);
}

static void at_exit() { at("program", "exit"); }

struct Global {
    ~Global() { at("program", "destructor"); }
};
static Global global;

// Ends the handler in one of the ways that real programs use: sends the same signal again, sends another signal, or returns to the
// instruction that caused the fault.
static void handle(int signal) {
    const char *how = getenv("HANDLER");
    ::signal(signal, SIG_DFL);
    if (!strcmp(how, "raise")) raise(signal);
    if (!strcmp(how, "abort")) abort();
    if (!strcmp(how, "exit")) _exit(3);
    if (!strcmp(how, "unblock")) {
        sigset_t all;
        sigfillset(&all);
        sigprocmask(SIG_UNBLOCK, &all, nullptr);
        raise(signal);
    }
}

static volatile bool handled;
static void *report(void *) {
    while (!handled) usleep(1000);
    signal(SIGABRT, SIG_DFL);
    abort();
}
static void wake(int) {
    handled = true;
    for (;;) pause();
}

static void prepare() {
    static char stack[1 << 16];
    stack_t alternate = {};
    alternate.ss_sp = stack;
    alternate.ss_size = sizeof stack;
    sigaltstack(&alternate, nullptr);
    struct sigaction action = {};
    action.sa_handler = handle;
    if (!strcmp(getenv("HANDLER"), "thread")) {
        pthread_t thread;
        pthread_create(&thread, nullptr, report, nullptr);
        action.sa_handler = wake;
    }
    action.sa_flags = SA_ONSTACK;
    for (int signal : {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT}) sigaction(signal, &action, nullptr);
}

typedef int (*CreateInstance)(const InstanceInfo *, const Callbacks *, void **);
typedef int (*ListDevices)(void *, uint32_t *, void *);
typedef void (*DestroyInstance)(void *, const Callbacks *);

// Calls itself without end, and a function of the loader when the stack is nearly used up.
static int recurse(void *library, volatile char *first) {
    const size_t size = 1 << 20;
    volatile char here[256];
    here[0] = 1;
    rlimit limit = {size, size};
    if (!first) setrlimit(RLIMIT_STACK, &limit);
    uint32_t count = 0;
    if (first && size_t(first - here) > size - (64 << 10))
        ((int (*)(const char *, uint32_t *, void *))dlsym(library, "vkEnumerateInstanceExtensionProperties"))(nullptr, &count, nullptr);
    return recurse(library, first ? first : here) + here[1];
}

static void *kept;
static DestroyInstance destroy_kept;
static void destroy_at_exit() { destroy_kept(kept, nullptr); }

static int run() {
    std::string how;
    at("program", "begin");
    if (getenv("HANDLER")) prepare();
    atexit(at_exit);
    void *library = dlopen("libvulkan.so.1", RTLD_NOW | RTLD_LOCAL);
    if (!library) return fprintf(stderr, "%s\n", dlerror()), 9;
    auto create = (CreateInstance)dlsym(library, "vkCreateInstance");
    auto list = (ListDevices)dlsym(library, "vkEnumeratePhysicalDevices");
    auto destroy = (DestroyInstance)dlsym(library, "vkDestroyInstance");
    at("program", "opened");
    if (is_wrong("program", "recursion", &how)) recurse(library, nullptr);
    Callbacks callbacks = {nullptr, allocate, reallocate, release, {}};
    bool calls_back = getenv("CALLBACKS");
    InstanceInfo info = {};
    info.type = 1;
    void *instance = nullptr;
    if (is_wrong("program", "info", &how)) create(how == "cut" ? (InstanceInfo *)cut() : (InstanceInfo *)8, nullptr, &instance);
    int result = create(&info, calls_back ? &callbacks : nullptr, &instance);
    at("program", "created");
    if (is_wrong("program", "thread", &how)) {
        start_thread(how);
        sleep(60);
    }
    uint32_t count = 0;
    if (result == 0) {
        if (is_wrong("program", "handle", &how)) list((void *)0x1234, &count, nullptr);
        list(instance, &count, nullptr);
        at("program", "listed");
        kept = instance;
        destroy_kept = destroy;
        if (is_wrong("driver", "works", &how)) return 0;
        if (getenv("AT_EXIT")) return atexit(destroy_at_exit);
        destroy(instance, calls_back ? &callbacks : nullptr);
    }
    // Fails because a process that it started crashes.
    if (is_wrong("program", "child", &how)) {
        int status;
        if (!fork()) go_wrong(how);
        wait(&status);
        return 1;
    }
    // Creates a file to show that all work is done, and then waits for a signal.
    if (const char *ready = getenv("READY")) {
        fclose(fopen(ready, "w"));
        sleep(60);
    }
    // Waits for some time, so that threads of drivers and layers can fail.
    if (getenv("WAIT")) usleep(300000);
    at("program", "end");
    return 0;
}

static void *run_in_thread(void *result) {
    *(int *)result = run();
    return nullptr;
}

int main() {
    int result = 0;
    pthread_t thread;
    if (!getenv("THREAD")) return run();
    pthread_create(&thread, nullptr, run_in_thread, &result);
    pthread_join(thread, nullptr);
    return result;
}
