// SPDX-License-Identifier: Apache-2.0
/* What the fake of libcufile asks; and how all is forgotten. */
#include "../cuda-fake.h"

#include "cuda.h"

EXPORT CUresult cuInit(unsigned flags);

EXPORT int fake_cuda_init(void) {
    if (device_count() == 0) return NO_DEVICE;
    return need_init() == NOT_INITIALIZED ? cuInit(0) : need_init();
}

EXPORT int fake_cuda_devices(void) {
    return device_count();
}

EXPORT void fake_cuda_uuid(int device, char *uuid) {
    device_uuid(device, uuid);
}

EXPORT void fake_cuda_range(uint64_t address, size_t size, struct memory_range *range) {
    *range = (struct memory_range){0};
    LOCK();
    struct span span;
    range->device = device_of_address(address);
    range->inside = resolve(address, size, &span);
    if (range->inside) range->bytes = span.bytes;
    struct allocation *allocation = allocation_at(address);
    if (range->device >= 0 && (!allocation || allocation->freed)) {
        range->type = MEMORY_FREED;
        /* Under the lock until here; a freed one that is still used is freed for all others. */
        range->inside = 0;
    } else if (allocation) {
        range->type = MEMORY_DEVICE;
        range->base = allocation->base;
        range->size = allocation->size;
    } else if (span.pinned) {
        range->type = MEMORY_HOST;
        range->base = (uint64_t)(uintptr_t)span.pinned->base;
        range->size = span.pinned->size;
    }
    UNLOCK();
}

static void with_memory(uint64_t address, int using, int registered) {
    LOCK();
    struct allocation *allocation = allocation_at(address);
    struct pinned *pinned = allocation ? NULL : pinned_memory;
    char *byte = (char *)(uintptr_t)address;
    /* The freed ones too: their last use ends here. */
    while (pinned && (byte < pinned->base || byte >= pinned->base + pinned->size)) pinned = pinned->next;
    struct span span = {0, allocation, pinned};
    if (allocation) allocation->registered += registered;
    use(&span, using);
    UNLOCK();
}

EXPORT void fake_cuda_use(uint64_t address, int more) {
    with_memory(address, more, 0);
}

EXPORT void fake_cuda_registered(uint64_t address, int more) {
    with_memory(address, 0, more);
}

EXPORT int fake_cuda_current_device(void) {
    LOCK();
    struct context *context = current_context();
    int device = context && !context->dead ? context->device : -1;
    UNLOCK();
    return device;
}

EXPORT int fake_cuda_stream(void *handle, int more) {
    LOCK();
    struct stream *stream = NULL;
    int known = (uintptr_t)handle <= 2 ? !stream_of(handle, "cuFile", &stream) : 0;
    if (!known) stream = handle_get(handle, STREAM);
    if (stream) stream->registered += more;
    int device = stream ? stream->context->device : -1;
    UNLOCK();
    return device;
}

EXPORT int fake_cuda_enqueue(void *handle, const char *function, void (*run)(void *), void *with) {
    struct stream *stream;
    LOCK();
    CUresult result = stream_of(handle, function, &stream);
    if (!result) enqueue(stream, host_op(function, run, with, 1));
    UNLOCK();
    return result;
}

EXPORT void fake_cuda_drain(void *handle) {
    struct stream *stream = NULL;
    LOCK();
    if ((uintptr_t)handle <= 2) (void)stream_of(handle, "cuFile", &stream);
    else stream = handle_get(handle, STREAM);
    if (stream) stream_wait(stream, stream->issued);
    UNLOCK();
}

void reset_library(void) {
    LOCK();
    /* A thread that does not end may still use all of this: then it stays. */
    if (streams_reset()) {
        modules_reset();
        events_reset();
        exports_reset();
        host_reset();
        memory_reset();
        contexts_reset();
    }
    UNLOCK();
}
