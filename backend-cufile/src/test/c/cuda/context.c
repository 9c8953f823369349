// SPDX-License-Identifier: Apache-2.0
/* Contexts: one primary per device, others at will, and each thread's stack of current ones. */
#include "cuda.h"

#include <stdlib.h>

enum { DEPTH = 16 };

pthread_mutex_t cuda_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t cuda_progress = PTHREAD_COND_INITIALIZER;

static struct context *primaries[DEVICES];
static unsigned primary_flags[DEVICES];
/* All that ever were: a thread may have one on its stack that ended long ago. */
static struct context *contexts;

static __thread struct context *stack[DEPTH];
static __thread int depth;
static __thread int in_host_function;

void host_function(int running) {
    in_host_function = running;
}

int host_function_running(void) {
    return in_host_function;
}

struct context *current_context(void) {
    return depth ? stack[depth - 1] : NULL;
}

CUresult need_context(const char *function, struct context **context) {
    CUresult result = need_init();
    if (result) return result;
    if (in_host_function) {
        complain("%s called inside a host function", function);
        return NOT_PERMITTED;
    }
    *context = current_context();
    if (!*context) {
        complain("%s called by a thread without a context", function);
        return INVALID_CONTEXT;
    }
    if ((*context)->dead) {
        complain("%s called with a context that was destroyed", function);
        return CONTEXT_IS_DESTROYED;
    }
    return (*context)->sticky;
}

static struct context *context_new(int device) {
    struct context *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->device = device;
    made->handle = handle_new(CONTEXT, made);
    made->next = contexts;
    contexts = made;
    live("contexts", 1);
    return made;
}

/* Takes all with it that lives in the context, as the driver does; the application should have ended that itself. */
static void context_end(struct context *context, const char *function) {
    streams_drain(context);
    long left = streams_of(context, 0) + allocations_of(context, 0);
    if (left) complain("%s: %ld streams and allocations still live in the context", function, left);
    streams_of(context, 1);
    allocations_of(context, 1);
    context->dead = 1;
    handle_end(context->handle);
    live("contexts", -1);
}

EXPORT CUresult cuDevicePrimaryCtxRetain(CUcontext *context, CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(device >= 0 && device < device_count(), INVALID_DEVICE);
    REQUIRE(context, INVALID_VALUE);
    LOCK();
    if (!primaries[device]) primaries[device] = context_new(device);
    primaries[device]->primary++;
    primaries[device]->flags = primary_flags[device];
    *context = primaries[device]->handle;
    UNLOCK();
    return SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxRelease_v2(CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(device >= 0 && device < device_count(), INVALID_DEVICE);
    LOCK();
    struct context *primary = primaries[device];
    if (!primary) {
        complain("%s: the primary context of device %d is not retained", __func__, device);
        result = INVALID_CONTEXT;
    } else if (--primary->primary == 0) {
        primaries[device] = NULL;
        context_end(primary, __func__);
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuDevicePrimaryCtxReset_v2(CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(device >= 0 && device < device_count(), INVALID_DEVICE);
    LOCK();
    struct context *primary = primaries[device];
    primaries[device] = NULL;
    if (primary) context_end(primary, __func__);
    UNLOCK();
    return SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxGetState(CUdevice device, unsigned *flags, int *active) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(device >= 0 && device < device_count(), INVALID_DEVICE);
    REQUIRE(flags && active, INVALID_VALUE);
    LOCK();
    *flags = primary_flags[device];
    *active = primaries[device] != NULL;
    UNLOCK();
    return SUCCESS;
}

EXPORT CUresult cuDevicePrimaryCtxSetFlags_v2(CUdevice device, unsigned flags) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(device >= 0 && device < device_count(), INVALID_DEVICE);
    LOCK();
    primary_flags[device] = flags;
    UNLOCK();
    return SUCCESS;
}

static CUresult push(struct context *context) {
    if (depth == DEPTH) return INVALID_VALUE;
    stack[depth++] = context;
    return SUCCESS;
}

EXPORT CUresult cuCtxCreate_v2(CUcontext *context, unsigned flags, CUdevice device) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(device >= 0 && device < device_count(), INVALID_DEVICE);
    REQUIRE(context, INVALID_VALUE);
    LOCK();
    struct context *made = context_new(device);
    made->flags = flags;
    *context = made->handle;
    UNLOCK();
    return push(made);
}

EXPORT CUresult cuCtxDestroy_v2(CUcontext handle) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    LOCK();
    struct context *context = handle_get(handle, CONTEXT);
    if (!context || context->primary) {
        complain("%s: %s", __func__, context ? "a primary context is released, not destroyed" : "no such context");
        result = INVALID_CONTEXT;
    } else {
        context_end(context, __func__);
        if (current_context() == context) depth--;
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuCtxEnablePeerAccess(CUcontext handle, unsigned flags) {
    CALLED(AT_ONCE);
    struct context *context, *peer;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result && flags) result = INVALID_VALUE;
    if (!result && !(peer = handle_get(handle, CONTEXT))) result = INVALID_CONTEXT;
    if (!result && (peer->device == context->device || property("no_peers", 0))) result = PEER_ACCESS_UNSUPPORTED;
    if (!result && context->peers[peer->device]++) result = PEER_ACCESS_ALREADY_ENABLED;
    UNLOCK();
    return result;
}

EXPORT CUresult cuCtxSetCurrent(CUcontext handle) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    if (!handle) {
        if (depth) depth--;
        return SUCCESS;
    }
    LOCK();
    struct context *context = handle_get(handle, CONTEXT);
    if (!context) complain("%s: no such context", __func__);
    UNLOCK();
    REQUIRE(context, INVALID_CONTEXT);
    if (!depth) return push(context);
    stack[depth - 1] = context;
    return SUCCESS;
}

EXPORT CUresult cuCtxGetCurrent(CUcontext *context) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(context, INVALID_VALUE);
    *context = depth ? stack[depth - 1]->handle : NULL;
    return SUCCESS;
}

EXPORT CUresult cuCtxPushCurrent_v2(CUcontext handle) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    LOCK();
    struct context *context = handle_get(handle, CONTEXT);
    if (!context) complain("%s: no such context", __func__);
    UNLOCK();
    REQUIRE(context, INVALID_CONTEXT);
    return push(context);
}

EXPORT CUresult cuCtxPopCurrent_v2(CUcontext *context) {
    CALLED(AT_ONCE);
    CUresult result = need_init();
    if (result) return result;
    REQUIRE(depth, INVALID_CONTEXT);
    struct context *popped = stack[--depth];
    if (context) *context = popped->handle;
    return SUCCESS;
}

EXPORT CUresult cuCtxGetDevice(CUdevice *device) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    UNLOCK();
    if (result) return result;
    REQUIRE(device, INVALID_VALUE);
    *device = context->device;
    return SUCCESS;
}

EXPORT CUresult cuCtxGetApiVersion(CUcontext handle, unsigned *version) {
    CALLED(AT_ONCE);
    LOCK();
    struct context *context = handle ? handle_get(handle, CONTEXT) : current_context();
    UNLOCK();
    REQUIRE(context && version, context ? INVALID_VALUE : INVALID_CONTEXT);
    *version = 3020;
    return SUCCESS;
}

EXPORT CUresult cuCtxGetStreamPriorityRange(int *least, int *greatest) {
    CALLED(AT_ONCE);
    if (least) *least = 0;
    if (greatest) *greatest = -5;
    return SUCCESS;
}

EXPORT CUresult cuCtxSynchronize(void) {
    CALLED(AT_ONCE);
    struct context *context;
    LOCK();
    CUresult result = need_context(__func__, &context);
    if (!result) {
        streams_drain(context);
        result = context->sticky;
    }
    UNLOCK();
    return result;
}

void contexts_reset(void) {
    for (struct context *context = contexts; context; context = context->next) {
        if (context->dead) continue;
        context->dead = 1;
        handle_end(context->handle);
    }
    for (int i = 0; i < DEVICES; i++) {
        primaries[i] = NULL;
        primary_flags[i] = 0;
    }
}
