// SPDX-License-Identifier: Apache-2.0
/*
 * Kernels compiled for the processor: the text of such a module says "//compiled:FILE", a shared library in which a
 * kernel is a function that handles the index kernel_index, and NAME_parameters is how many parameters it has, each 8
 * bytes. Addresses of the device among them become those of the fake's own memory.
 */
#include <dlfcn.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cuda.h"

enum { PARAMETERS = 12 };
#define PREFIX "//compiled:"

typedef void (*function)(uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t,
                         uint64_t, uint64_t, uint64_t);

struct launch {
    struct compiled_kernel kernel;
    uint64_t values[PARAMETERS];
};

void *compiled_open(const char *text) {
    char file[4096];
    const char *start = text + strspn(text, " \t\r\n");
    if (strncmp(start, PREFIX, strlen(PREFIX)) || sscanf(start + strlen(PREFIX), "%4095[^\n]", file) != 1) return NULL;
    void *library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) complain("cuModuleLoadData: %s", dlerror());
    unlink(file); /* what the compiler's fake has made for us, in a folder of its own */
    rmdir(dirname(file));
    return library;
}

void compiled_close(void *library) {
    if (library) dlclose(library);
}

int compiled_find(void *library, const char *name, struct compiled_kernel *kernel) {
    char parameters[256];
    snprintf(parameters, sizeof parameters, "%s_parameters", name);
    const int *count = dlsym(library, parameters);
    *kernel = (struct compiled_kernel){dlsym(library, name), dlsym(library, "set_kernel_index"), count ? *count : 0};
    return kernel->function && kernel->index && count && *count <= PARAMETERS;
}

static void run(struct op *op) {
    struct launch *launch = op->extra;
    uint64_t *v = launch->values;
    function kernel = (function)launch->kernel.function;
    void (*index)(long long) = (void (*)(long long))launch->kernel.index;
    for (uint64_t i = 0; i < op->number && !stopping(); i++) {
        index((long long)i);
        kernel(v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8], v[9], v[10], v[11]);
    }
}

struct op *compiled_op(const struct compiled_kernel *kernel, uint64_t threads, void **parameters) {
    struct op *op = op_new("cuLaunchKernel", run);
    struct launch *launch = calloc(1, sizeof *launch);
    op->copies = calloc(PARAMETERS, sizeof *op->copies);
    if (!launch || !op->copies) abort();
    op->copy_count = (size_t)kernel->parameters;
    op->extra = launch;
    op->number = threads;
    launch->kernel = *kernel;
    for (int i = 0; i < kernel->parameters; i++) {
        memcpy(&launch->values[i], parameters[i], sizeof launch->values[i]);
        struct span span = {0};
        if (device_of_address(launch->values[i]) < 0) continue;
        if (!resolve(launch->values[i], 1, &span)) {
            complain("cuLaunchKernel: parameter %d is no memory of the device any more", i);
            op->illegal = 1;
            continue;
        }
        op->copies[i] = (struct copy){.to = span, .size = 1};
        launch->values[i] = (uint64_t)(uintptr_t)span.bytes;
    }
    return op;
}
