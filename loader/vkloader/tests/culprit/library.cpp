// A library that a driver, layer or program needs.
#include "wrong.hpp"

extern "C" void NAMED(OWNER, go_wrong)(const char *how) {
    if (!strcmp(how, "abort")) abort();
    *(volatile int *)32 = 1;
}

static void *run(void *) {
    usleep(20000);
    *(volatile int *)40 = 1;
    return nullptr;
}

extern "C" void NAMED(OWNER, start_thread)() {
    pthread_t thread;
    pthread_create(&thread, nullptr, run, nullptr);
}
