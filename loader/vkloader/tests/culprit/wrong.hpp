// Ways to fail. The variable WRONG consists of three words: the part that fails, the location of the failure, and its kind.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <pthread.h>
#include <signal.h>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <fcntl.h>
#include <unistd.h>
#include <vector>

// The functions of library.cpp. Each part has a separate copy with different names.
#define JOINED(one, other) one##_##other
#define NAMED(one, other) JOINED(one, other)
extern "C" void NAMED(OWNER, go_wrong)(const char *how);
extern "C" void NAMED(OWNER, start_thread)();

static volatile int nothing;

__attribute__((noinline)) static int deep(int depth, volatile char *above) {
    volatile char here[512];
    here[depth % 512] = above ? above[0] : 0;
    return deep(depth + 1, here) + here[1];
}

struct Abstract {
    Abstract() { call(); }
    __attribute__((noinline)) void call() { absent(); }
    virtual void absent() = 0;
};
struct Concrete : Abstract {
    void absent() override {}
};

__attribute__((noinline)) static void smash(size_t length) {
    char small[16];
    volatile char *at = small;
    for (size_t i = 0; i < length; i++) at[i] = 'A';
    nothing = small[3];
}

static int compare(const void *, const void *) {
    *(volatile int *)8 = 1;
    return 0;
}

static void shorten() {
    char name[] = "/tmp/wrong-XXXXXX";
    int file = mkstemp(name);
    unlink(name);
    if (ftruncate(file, 8192)) return;
    volatile char *bytes = (char *)mmap(0, 8192, PROT_READ, MAP_SHARED, file, 0);
    if (ftruncate(file, 0)) return;
    nothing = bytes[4096];
}

// Maps the file that the variable CUT names, and truncates the file.
static volatile char *cut() {
    int file = open(getenv("CUT"), O_RDWR | O_CREAT, 0600);
    if (ftruncate(file, 8192)) return nullptr;
    volatile char *bytes = (char *)mmap(0, 8192, PROT_READ, MAP_SHARED, file, 0);
    return ftruncate(file, 100) ? nullptr : bytes + 4096;
}

// Writes behind a block of memory, so that a later call of malloc fails.
static void damage() {
    char *volatile small = (char *)malloc(40);
    for (int i = 0; i < 4000; i++) ((volatile char *)small)[i] = 'A';
    for (int i = 0; i < 1000; i++) nothing = *(char *volatile)malloc(i * 64);
}

static void *end(void *thread) {
    usleep(20000);
    pthread_kill((pthread_t)thread, SIGABRT);
    return nullptr;
}

// Starts a thread that sends a signal to this thread.
static void await_signal() {
    pthread_t thread;
    pthread_create(&thread, nullptr, end, (void *)pthread_self());
    for (;;) nothing++;
}

// Starts a thread that sends a signal to this thread while this thread blocks it.
static void unblock_signal() {
    sigset_t all, old;
    pthread_t thread;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &old);
    pthread_create(&thread, nullptr, end, (void *)pthread_self());
    pthread_join(thread, nullptr);
    pthread_sigmask(SIG_SETMASK, &old, nullptr);
}

static void run_made_code() {
    unsigned char *code = (unsigned char *)mmap(0, 4096, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
#if defined(__x86_64__) || defined(__i386__)
    code[0] = 0x0F, code[1] = 0x0B; // ud2
#endif
    ((void (*)())code)();
    nothing = 1;
}

static void quiet() noexcept { throw std::runtime_error("not allowed"); }

__attribute__((noinline)) static void go_wrong(const std::string &how) {
    std::string name = how;
    if (name == "write") *(volatile int *)16 = 1;
    else if (name == "null") { ((void (*)())nullptr)(); nothing = 1; }
    else if (name == "garbage") { ((void (*)())0x123456)(); nothing = 1; }
    else if (name == "data") { void *heap = malloc(64); ((void (*)())heap)(); nothing = 1; }
    else if (name == "wild") { volatile uintptr_t wild = (uintptr_t)0x6162636465666768; *(volatile int *)wild = 1; }
    else if (name == "trap") __builtin_trap();
    else if (name == "divide") nothing = 100 / nothing;
    else if (name == "abort") abort();
    else if (name == "throw") throw std::runtime_error("thrown");
    else if (name == "noexcept") quiet();
    else if (name == "at") nothing = std::vector<int>().at(3);
    else if (name == "pure") new Concrete();
    else if (name == "deep") nothing = deep(0, nullptr);
    else if (name == "short") shorten();
    else if (name == "cut") nothing = *cut();
    else if (name == "heap") damage();
    else if (name == "free") { char *volatile twice = (char *)malloc(3000); char *volatile other = (char *)malloc(16); free(twice); free(twice); free(other); }
    else if (name == "copy") { volatile uintptr_t bad = 24; memcpy((void *)bad, "some text that is copied", 24); }
    else if (name == "length") { volatile uintptr_t bad = 24; nothing = (int)strlen((char *)bad); }
    else if (name == "sort") { int numbers[] = {3, 1, 2}; qsort(numbers, 3, sizeof(int), compare); }
    else if (name == "smash") smash(4000);
    else if (name == "raise") raise(SIGSEGV);
    else if (name == "signal") await_signal();
    else if (name == "unblock") unblock_signal();
    else if (name == "made") run_made_code();
    else if (name == "library") NAMED(OWNER, go_wrong)("write");
    else if (name == "library-abort") NAMED(OWNER, go_wrong)("abort");
    else if (name == "library-thread") { NAMED(OWNER, start_thread)(); sleep(60); }
    nothing = 2;
}

static void *start(void *how) {
    usleep(20000);
    go_wrong((const char *)how);
    return nullptr;
}

// Starts a thread that fails after a short time.
static inline void start_thread(const std::string &how) {
    static char kept[64];
    snprintf(kept, sizeof kept, "%s", how.c_str());
    pthread_t thread;
    pthread_create(&thread, nullptr, start, kept);
}

static inline bool is_wrong(const char *who, const char *where, std::string *how) {
    const char *wrong = getenv("WRONG");
    char words[3][32] = {"", "", ""};
    if (!wrong || sscanf(wrong, "%31s %31s %31s", words[0], words[1], words[2]) != 3) return false;
    *how = words[2];
    return !strcmp(words[0], who) && !strcmp(words[1], where);
}

// Fails if the variable selects this part and this location.
static inline void at(const char *who, const char *where) {
    std::string how;
    if (is_wrong(who, where, &how)) go_wrong(how);
}
