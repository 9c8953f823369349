// SPDX-License-Identifier: Apache-2.0
/*
 * Modules and kernels. The fake runs no device code: a kernel is one of those below, found by its name, and the module
 * must be PTX that declares an entry of that name with as many parameters.
 *
 *   spin(u64 flag)                              until the 32-bit word at flag is not 0
 *   copy(u64 to, u64 from, u64 size)
 *   spin_copy(u64 flag, u64 to, u64 from, u64 size)   a kernel that reads late
 *   fill(u64 to, u32 value, u64 size)
 *   sum(u64 to, u64 from, u64 size)             the sum of the bytes, as one 64-bit word
 *
 * Or the module is what the fake of the runtime compiler made, nvrtc/nvrtc.c: kernels compiled for the processor, see
 * compiled.c.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cuda.h"

enum { PARAMETERS = 4, MEMORIES = 3 };

struct kernel {
    const char *name;
    const char *kinds; /* of the parameters: f flag, t target, s source, n size, v 32-bit value */
    void (*run)(struct op *op);
};

struct module {
    struct context *context;
    char *text;
    void *compiled; /* or null */
    int unloaded;
    struct module *next;
};

/* All that ever were: a function may outlive its module in the hands of the application. */
static struct module *modules;

struct function_handle {
    struct module *module;
    const struct kernel *kernel;
    struct compiled_kernel compiled; /* where kernel is null */
};

/* Which memory of an operation is which. */
static char *memory(struct op *op, char kind) {
    size_t at = kind == 'f' ? 0 : kind == 't' ? 1 : 2;
    return op->copies[at].to.bytes;
}

static void spin(struct op *op) {
    const struct timespec moment = {0, 50000};
    uint32_t *flag = (uint32_t *)(void *)memory(op, 'f');
    while (!__atomic_load_n(flag, __ATOMIC_ACQUIRE) && !stopping()) nanosleep(&moment, NULL);
}

static void copy(struct op *op) {
    memmove(memory(op, 't'), memory(op, 's'), op->copies[1].size);
}

static void spin_copy(struct op *op) {
    spin(op);
    if (!stopping()) copy(op);
}

static void fill(struct op *op) {
    memset(memory(op, 't'), (int)op->flags, op->copies[1].size);
}

static void sum(struct op *op) {
    uint64_t total = 0;
    const unsigned char *bytes = (unsigned char *)memory(op, 's');
    for (size_t i = 0; i < op->copies[2].size; i++) total += bytes[i];
    memcpy(memory(op, 't'), &total, sizeof total);
}

static const struct kernel kernels[] = {
    {"spin", "f", spin},       {"copy", "tsn", copy}, {"spin_copy", "ftsn", spin_copy},
    {"fill", "tvn", fill},     {"sum", "tsn", sum},
};

static CUresult load(CUmodule *handle, const void *image) {
    const char *text = image;
    /* A real driver also takes cubins and fat binaries; neither means anything here. */
    const char *start = text + strspn(text, " \t\r\n");
    REQUIRE(!strncmp(start, "//", 2) || !strncmp(start, ".version", 8), INVALID_IMAGE);
    struct context *context;
    LOCK();
    CUresult result = need_context("cuModuleLoadData", &context);
    if (!result) {
        struct module *made = calloc(1, sizeof *made);
        if (!made || !(made->text = strdup(text))) abort();
        made->context = context;
        made->compiled = compiled_open(text);
        made->next = modules;
        modules = made;
        *handle = handle_new(MODULE, made);
        live("modules", 1);
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuModuleLoadData(CUmodule *handle, const void *image) {
    CALLED(AT_ONCE);
    REQUIRE(handle && image, INVALID_VALUE);
    return load(handle, image);
}

EXPORT CUresult cuModuleLoadDataEx(CUmodule *handle, const void *image, unsigned options, int *names, void **values) {
    CALLED(AT_ONCE);
    REQUIRE(handle && image && (!options || (names && values)), INVALID_VALUE);
    return load(handle, image);
}

EXPORT CUresult cuModuleUnload(CUmodule handle) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    struct module *module = handle_get(handle, MODULE);
    if (!result && !module) {
        complain("%s: no such module", __func__);
        result = INVALID_HANDLE;
    }
    if (!result) {
        handle_end(handle);
        module->unloaded = 1;
        live("modules", -1);
    }
    UNLOCK();
    return result;
}

/* Whether the module declares the kernel, with as many parameters as it has. */
static int declares(const struct module *module, const struct kernel *kernel) {
    char entry[64];
    snprintf(entry, sizeof entry, ".entry %s(", kernel->name);
    const char *at = strstr(module->text, entry);
    if (!at) return 0;
    const char *end = strchr(at, ')');
    size_t parameters = 0;
    for (const char *p = at; end && (p = strstr(p, ".param")) && p < end; p++) parameters++;
    return end && parameters == strlen(kernel->kinds);
}

static CUresult compiled_function(CUfunction *handle, struct module *module, const char *name) {
    struct compiled_kernel kernel;
    if (!compiled_find(module->compiled, name, &kernel)) return NOT_FOUND;
    struct function_handle *made = malloc(sizeof *made);
    if (!made) abort();
    *made = (struct function_handle){module, NULL, kernel};
    *handle = handle_new(FUNCTION, made);
    return SUCCESS;
}

EXPORT CUresult cuModuleGetFunction(CUfunction *handle, CUmodule of, const char *name) {
    CALLED(AT_ONCE);
    REQUIRE(handle && name, INVALID_VALUE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    struct module *module = handle_get(of, MODULE);
    if (!result && !module) result = INVALID_HANDLE;
    if (!result) {
        result = module->compiled ? compiled_function(handle, module, name) : NOT_FOUND;
        for (size_t i = 0; !module->compiled && i < sizeof kernels / sizeof *kernels; i++) {
            if (strcmp(kernels[i].name, name) || !declares(module, &kernels[i])) continue;
            struct function_handle *made = malloc(sizeof *made);
            if (!made) abort();
            *made = (struct function_handle){module, &kernels[i], {0}};
            *handle = handle_new(FUNCTION, made);
            result = SUCCESS;
        }
    }
    UNLOCK();
    return result;
}

/* What the launch passes by value is read now; memory that is not there breaks the context when the kernel runs. */
static struct op *op_of(const struct kernel *kernel, void **parameters) {
    struct op *op = op_new("cuLaunchKernel", kernel->run);
    op->copies = calloc(MEMORIES, sizeof *op->copies);
    if (!op->copies) abort();
    op->copy_count = MEMORIES;
    uint64_t values[PARAMETERS], size = 4;
    for (size_t i = 0; kernel->kinds[i]; i++) {
        if (kernel->kinds[i] == 'v') memcpy(&op->flags, parameters[i], sizeof op->flags);
        else memcpy(&values[i], parameters[i], sizeof values[i]);
        if (kernel->kinds[i] == 'n') size = values[i];
    }
    for (size_t i = 0; kernel->kinds[i]; i++) {
        char kind = kernel->kinds[i];
        if (kind != 'f' && kind != 't' && kind != 's') continue;
        struct copy *memory = &op->copies[kind == 'f' ? 0 : kind == 't' ? 1 : 2];
        memory->size = kind == 'f' ? 4 : kind == 't' && kernel->run == sum ? 8 : size;
        if (!resolve(values[i], memory->size, &memory->to) || (!memory->to.allocation && !memory->to.pinned)) {
            complain("cuLaunchKernel: %s gets memory that is not the device's", kernel->name);
            memory->to = (struct span){0};
            op->illegal = 1;
        }
    }
    return op;
}

EXPORT CUresult cuLaunchKernel(CUfunction handle, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                               unsigned bz, unsigned shared, CUstream of, void **parameters, void **extra) {
    CALLED(IN_STREAM);
    REQUIRE(gx && gy && gz && bx && by && bz && bx * by * bz <= 1024 && shared <= 232448, INVALID_VALUE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) result = stream_of(of, __func__, &stream);
    struct function_handle *function = handle_get(handle, FUNCTION);
    if (!result && (!function || function->module->unloaded)) {
        complain("%s: %s", __func__, function ? "the function's module was unloaded" : "no such function");
        result = INVALID_HANDLE;
    }
    if (!result && (stream->context != context || function->module->context != context)) {
        complain("%s: kernel, stream and current context do not belong together", __func__);
        result = INVALID_HANDLE;
    }
    if (!result && (!parameters || extra)) result = INVALID_VALUE;
    uint64_t threads = (uint64_t)gx * gy * gz * bx * by * bz;
    if (!result) {
        enqueue(stream, function->kernel ? op_of(function->kernel, parameters)
                                         : compiled_op(&function->compiled, threads, parameters));
    }
    UNLOCK();
    return result;
}

static void function_free(void *object, void *with) {
    (void)with;
    free(object);
}

void modules_reset(void) {
    handle_each(FUNCTION, function_free, NULL);
    handles_end(FUNCTION);
    handles_end(MODULE);
    while (modules) {
        struct module *gone = modules;
        modules = gone->next;
        compiled_close(gone->compiled);
        free(gone->text);
        free(gone);
    }
}
