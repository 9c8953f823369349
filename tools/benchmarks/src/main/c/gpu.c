// SPDX-License-Identifier: Apache-2.0
#include "gpu.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>

#define DEFINE(name, parameters) CUresult(*name) parameters;
CUDA_FUNCTIONS(DEFINE)
CUDA_EXTRAS(DEFINE)
#define DEFINE_CUFILE(type, name, parameters) type(*name) parameters;
CUFILE_FUNCTIONS(DEFINE_CUFILE)

void (*fail_with)(const char *text);
static CUcontext contexts[MOST_DEVICES];
static __thread int entered;
static void *cufile;

void fail(const char *format, ...) {
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    if (fail_with) {
        fail_with(text);
    }
    fprintf(stderr, "%s\n", text);
    exit(1);
}

void must(const char *call, CUresult result) {
    if (result != CUDA_SUCCESS) {
        fail("%s -> %d", call, result);
    }
}

void must_cufile(const char *call, CUfileError_t result) {
    if (result.err != 0) {
        fail("%s -> %d, CUDA %d", call, result.err, result.cu_err);
    }
}

static void *open_library(const char *variable, const char *const *places) {
    const char *named = getenv(variable);
    if (named && *named) {
        void *library = dlopen(named, RTLD_NOW | RTLD_GLOBAL);
        if (!library) {
            fail("%s", dlerror());
        }
        return library;
    }
    for (; *places; places++) {
        void *library = dlopen(*places, RTLD_NOW | RTLD_GLOBAL);
        if (library) {
            return library;
        }
    }
    fail("%s", dlerror());
}

static void *symbol(void *library, const char *name) {
    void *found = dlsym(library, name);
    if (!found) {
        fail("no %s in the library", name);
    }
    return found;
}

void gpu_open(void) {
    static const char *const places[] = {"libcuda.so.1", "/usr/local/nvidia/lib64/libcuda.so.1", NULL};
    void *library = open_library("PENSTOCK_CUFILE_LIBCUDA", places);
#define LOAD(name, parameters) name = (CUresult(*) parameters)symbol(library, #name);
    CUDA_FUNCTIONS(LOAD)
#define LOAD_EXTRA(name, parameters) name = (CUresult(*) parameters)dlsym(library, #name);
    CUDA_EXTRAS(LOAD_EXTRA)
    const char *ordinal = getenv("PENSTOCK_CUFILE_DEVICE");
    CUdevice device;
    CUDA(cuInit(0));
    CUDA(cuDeviceGet(&device, ordinal && *ordinal ? atoi(ordinal) : 0));
    CUDA(cuDevicePrimaryCtxRetain(&contexts[0], device));
    gpu_enter();
}

void gpu_enter(void) {
    gpu_enter_device(0);
}

void gpu_enter_device(int device) {
    if (device < 0 || device >= MOST_DEVICES) {
        fail("GPU %d of at most %d", device, MOST_DEVICES);
    }
    if (!contexts[device]) { // by one thread, before others start
        CUdevice ordinal;
        CUDA(cuDeviceGet(&ordinal, device));
        CUDA(cuDevicePrimaryCtxRetain(&contexts[device], ordinal));
    }
    CUDA(cuCtxSetCurrent(contexts[device]));
    entered = device;
}

CUcontext gpu_context(int device) {
    return contexts[device];
}

int gpu_device(void) {
    return entered;
}

int gpu_devices(void) {
    int count;
    CUDA(cuDeviceGetCount(&count));
    return count;
}

void cufile_load(void) {
    static const char *const places[] = {
        "libcufile.so.0",
        "/usr/local/cuda/lib64/libcufile.so.0",
        "/usr/local/cuda/targets/x86_64-linux/lib/libcufile.so.0",
        "/usr/lib/x86_64-linux-gnu/libcufile.so.0",
        NULL};
    cufile = open_library("PENSTOCK_CUFILE_LIBCUFILE", places);
#define LOAD_CUFILE(type, name, parameters) name = (type(*) parameters)symbol(cufile, #name);
    CUFILE_FUNCTIONS(LOAD_CUFILE)
}

void *cufile_symbol(const char *name) {
    return symbol(cufile, name);
}

int64_t now_nanos(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int64_t cpu_nanos(void) {
    struct rusage used;
    getrusage(RUSAGE_SELF, &used);
    return (used.ru_utime.tv_sec + used.ru_stime.tv_sec) * 1000000000LL
            + (used.ru_utime.tv_usec + used.ru_stime.tv_usec) * 1000LL;
}
