// SPDX-License-Identifier: Apache-2.0
/*
 * Copies and fills. Pinned memory moves when the stream gets there. Pageable memory is read before an asynchronous call
 * returns, and written before it returns, as the manual says ("API synchronization behavior").
 */
#include <stdlib.h>
#include <string.h>

#include "cuda.h"

enum { DEVICE = 0, HOST = 1, ANY = 2 };

static int pageable(const struct span *span) {
    return !span->allocation && !span->pinned;
}

static void copy(struct op *op) {
    for (size_t i = 0; i < op->copy_count; i++) memmove(op->copies[i].to.bytes, op->copies[i].from.bytes, op->copies[i].size);
}

/* One place where the bytes of pageable sources are kept until the stream gets to them. */
static char *take(struct copy *copies, size_t count) {
    size_t size = 0;
    for (size_t i = 0; i < count; i++)
        if (pageable(&copies[i].from)) size += copies[i].size;
    if (!size) return NULL;
    char *taken = malloc(size), *at = taken;
    if (!taken) abort();
    for (size_t i = 0; i < count; i++) {
        if (!pageable(&copies[i].from)) continue;
        memcpy(at, copies[i].from.bytes, copies[i].size);
        copies[i].from.bytes = at;
        at += copies[i].size;
        live("pageable_copies", 1);
    }
    return taken;
}

CUresult copy_enqueue(const char *function, struct stream *stream, struct copy *copies, size_t count, int wait) {
    struct op *op = op_new(function, copy);
    op->copies = copies;
    op->copy_count = count;
    for (size_t i = 0; i < count; i++) {
        if (!pageable(&copies[i].to)) continue;
        live("pageable_copies", 1);
        wait = 1;
    }
    if (!wait) op->extra = take(copies, count);
    uint64_t number = enqueue(stream, op);
    if (wait) stream_wait(stream, number);
    return wait ? stream->context->sticky : SUCCESS;
}

static CUresult fits(const char *function, uint64_t address, size_t size, int kind, struct span *span) {
    int on_device = device_of_address(address) >= 0;
    if ((kind == DEVICE && !on_device && !pinned_at((char *)(uintptr_t)address)) || (kind == HOST && on_device)) {
        complain("%s: %#lx is no %s pointer", function, (unsigned long)address, kind == HOST ? "host" : "device");
        return INVALID_VALUE;
    }
    if (resolve(address, size, span)) return SUCCESS;
    complain("%s: %zu bytes at %#lx are not allocated", function, size, (unsigned long)address);
    return INVALID_VALUE;
}

static CUresult prepare(const char *function, uint64_t to, int to_kind, uint64_t from, int from_kind, size_t size,
                        struct copy *copy) {
    copy->size = size;
    CUresult result = fits(function, to, size, to_kind, &copy->to);
    if (!result) result = fits(function, from, size, from_kind, &copy->from);
    if (!result && copy->to.pinned && copy->to.pinned->read_only) {
        complain("%s: writes into memory that is registered read-only", function);
        result = INVALID_VALUE;
    }
    return result;
}

/* Legal, and slow, and never meant: the wrong context on this thread, or the wrong stream. */
static void check_device(const char *function, const struct copy *copy, const struct stream *stream) {
    const struct allocation *device = copy->to.allocation ? copy->to.allocation : copy->from.allocation;
    if (copy->to.allocation && copy->from.allocation) return;
    if (device && device->context->device != stream->context->device)
        complain("%s: a stream of device %d copies to or from device %d", function, stream->context->device,
                 device->context->device);
}

static CUresult move(const char *function, uint64_t to, int to_kind, uint64_t from, int from_kind, size_t size,
                     CUstream of, int wait) {
    struct context *context;
    struct stream *stream;
    struct copy prepared, *copies;
    LOCK();
    CUresult result = need_context(function, &context);
    if (!result) result = stream_of(of, function, &stream);
    if (!result && size) result = prepare(function, to, to_kind, from, from_kind, size, &prepared);
    if (!result && size) {
        check_device(function, &prepared, stream);
        copies = malloc(sizeof *copies);
        if (!copies) abort();
        *copies = prepared;
        result = copy_enqueue(function, stream, copies, 1, wait);
    }
    UNLOCK();
    return result;
}

#define ADDRESS(pointer) ((uint64_t)(uintptr_t)(pointer))

EXPORT CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr to, const void *from, size_t size, CUstream stream) {
    CALLED(IN_STREAM);
    return move(__func__, to, DEVICE, ADDRESS(from), HOST, size, stream, 0);
}

EXPORT CUresult cuMemcpyDtoHAsync_v2(void *to, CUdeviceptr from, size_t size, CUstream stream) {
    CALLED(IN_STREAM);
    return move(__func__, ADDRESS(to), HOST, from, DEVICE, size, stream, 0);
}

EXPORT CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    CALLED(IN_STREAM);
    return move(__func__, to, DEVICE, from, DEVICE, size, stream, 0);
}

EXPORT CUresult cuMemcpyAsync(CUdeviceptr to, CUdeviceptr from, size_t size, CUstream stream) {
    CALLED(IN_STREAM);
    return move(__func__, to, ANY, from, ANY, size, stream, 0);
}

/* Each side belongs to the context that is named for it; between two devices, the stream's is one of the two. */
EXPORT CUresult cuMemcpyPeerAsync(CUdeviceptr to, CUcontext to_context, CUdeviceptr from, CUcontext from_context,
                                  size_t size, CUstream stream) {
    CALLED(IN_STREAM);
    struct span ends[2];
    CUcontext named[2] = {to_context, from_context};
    CUdeviceptr at[2] = {to, from};
    LOCK();
    CUresult result = SUCCESS;
    for (int i = 0; !result && i < 2; i++) {
        struct context *context = handle_get(named[i], CONTEXT);
        if (!context) result = INVALID_CONTEXT;
        else if (!resolve(at[i], size, &ends[i]) || !ends[i].allocation) result = INVALID_VALUE;
        else if (ends[i].allocation->context->device != context->device) {
            complain("%s: %#lx is not of device %d", __func__, (unsigned long)at[i], context->device);
            result = INVALID_VALUE;
        }
    }
    UNLOCK();
    return result ? result : move(__func__, to, DEVICE, from, DEVICE, size, stream, 0);
}

EXPORT CUresult cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t size) {
    CALLED(IN_STREAM);
    return move(__func__, to, DEVICE, ADDRESS(from), HOST, size, NULL, 1);
}

EXPORT CUresult cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t size) {
    CALLED(IN_STREAM);
    return move(__func__, ADDRESS(to), HOST, from, DEVICE, size, NULL, 1);
}

EXPORT CUresult cuMemcpyDtoD_v2(CUdeviceptr to, CUdeviceptr from, size_t size) {
    CALLED(IN_STREAM);
    return move(__func__, to, DEVICE, from, DEVICE, size, NULL, 1);
}

EXPORT CUresult cuMemcpy(CUdeviceptr to, CUdeviceptr from, size_t size) {
    CALLED(IN_STREAM);
    return move(__func__, to, ANY, from, ANY, size, NULL, 1);
}

/* How the sources of some copies may be read: 1 in stream order, 2 during the call, 3 at any time. 24 bytes. */
struct attributes {
    int source_order;
    int locations[4];
    unsigned flags;
};

static CUresult batch(const char *function, CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                      struct attributes *attributes, size_t *starts, size_t kinds, size_t *failed, CUstream of) {
    if (failed) *failed = SIZE_MAX;
    REQUIRE(to && from && sizes && count && attributes && starts && kinds && kinds <= count, INVALID_VALUE);
    /* No batch in the legacy stream. */
    REQUIRE((uintptr_t)of > 1, INVALID_VALUE);
    for (size_t i = 0; i < kinds; i++)
        REQUIRE(attributes[i].source_order >= 1 && attributes[i].source_order <= 3
                        && (i ? starts[i] > starts[i - 1] && starts[i] < count : !starts[0]), INVALID_VALUE);
    struct context *context;
    struct stream *stream;
    LOCK();
    CUresult result = need_context(function, &context);
    if (!result) result = stream_of(of, function, &stream);
    struct copy *copies = calloc(count, sizeof *copies);
    if (!copies) abort();
    for (size_t i = 0; !result && i < count; i++) {
        result = sizes[i] ? prepare(function, to[i], ANY, from[i], ANY, sizes[i], &copies[i]) : INVALID_VALUE;
        if (result && failed) *failed = i;
    }
    if (!result) result = copy_enqueue(function, stream, copies, count, 0);
    else free(copies);
    UNLOCK();
    return result;
}

/* CUDA 12.8, and without the index of what failed since 13.0. */
EXPORT CUresult cuMemcpyBatchAsync(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                                   struct attributes *attributes, size_t *starts, size_t kinds, size_t *failed,
                                   CUstream stream) {
    CALLED(IN_STREAM);
    return batch(__func__, to, from, sizes, count, attributes, starts, kinds, failed, stream);
}

EXPORT CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *to, CUdeviceptr *from, size_t *sizes, size_t count,
                                      struct attributes *attributes, size_t *starts, size_t kinds, CUstream stream) {
    CALLED(IN_STREAM);
    return batch(__func__, to, from, sizes, count, attributes, starts, kinds, NULL, stream);
}

static void fill(struct op *op) {
    memset(op->copies[0].to.bytes, (int)op->number, op->copies[0].size);
}

static CUresult set(const char *function, CUdeviceptr to, unsigned char value, size_t size, CUstream of, int wait) {
    struct context *context;
    struct stream *stream;
    struct span span;
    LOCK();
    CUresult result = need_context(function, &context);
    if (!result) result = stream_of(of, function, &stream);
    if (!result && size) result = fits(function, to, size, DEVICE, &span);
    if (!result && size) {
        struct op *op = op_new(function, fill);
        op->copies = calloc(1, sizeof *op->copies);
        if (!op->copies) abort();
        op->copies[0].to = span;
        op->copies[0].size = size;
        op->copy_count = 1;
        op->number = value;
        uint64_t number = enqueue(stream, op);
        if (wait) stream_wait(stream, number);
    }
    UNLOCK();
    return result;
}

EXPORT CUresult cuMemsetD8Async(CUdeviceptr to, unsigned char value, size_t size, CUstream stream) {
    CALLED(IN_STREAM);
    return set(__func__, to, value, size, stream, 0);
}

EXPORT CUresult cuMemsetD8_v2(CUdeviceptr to, unsigned char value, size_t size) {
    CALLED(IN_STREAM);
    return set(__func__, to, value, size, NULL, 1);
}
