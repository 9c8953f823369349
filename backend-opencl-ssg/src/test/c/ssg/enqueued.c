// SPDX-License-Identifier: Apache-2.0
/* Every command that gives the application an event, so that events are counted. */
#include "ssg.h"

static cl_int born(const char *function, cl_int result, cl_command_queue queue, cl_event *event) {
    if (result || !event || !*event) return result;
    LOCK();
    struct queue *of = object_get(QUEUES, queue);
    struct context *context = of ? of->context : NULL;
    if (context) pin(context);
    UNLOCK();
    if (!context) return result;
    if (!plain_fails(function, context, queue, event)) event_born(*event, context);
    unpin(context);
    return result;
}

#define LIST cl_uint count, const cl_event *list, cl_event *event
#define PASS count, list, event
/* The command as it is below, with some more to be done where it was accepted. */
#define COMMAND(name, parameters, arguments, also) COMMAND_THAT(CL_FALSE, name, parameters, arguments, also)
#define COMMAND_THAT(blocking, name, parameters, arguments, also)     \
    static cl_int CL_API_CALL our_##name parameters {                 \
        ORDERED_AS("cl" #name);                                       \
        struct plain plain;                                           \
        list = plain_begin(&plain, "cl" #name, queue, blocking, &count, list); \
        cl_int result = below.cl##name arguments;                     \
        plain_end(&plain);                                            \
        if (!result) {                                                \
            also;                                                     \
        }                                                             \
        return born("cl" #name, result, queue, event);                \
    }
#define NOTHING (void)0

typedef cl_command_queue QUEUE;
typedef const size_t *SIZES;

COMMAND_THAT(b, EnqueueReadBuffer, (QUEUE queue, cl_mem m, cl_bool b, size_t offset, size_t size, void *p, LIST),
        (queue, m, b, offset, size, p, PASS), expect_no_external("clEnqueueReadBuffer", m))
COMMAND_THAT(b, EnqueueWriteBuffer, (QUEUE queue, cl_mem m, cl_bool b, size_t offset, size_t size, const void *p, LIST),
        (queue, m, b, offset, size, p, PASS), NOTHING)
COMMAND_THAT(b, EnqueueReadBufferRect,
        (QUEUE queue, cl_mem m, cl_bool b, SIZES bo, SIZES ho, SIZES region, size_t br, size_t bs, size_t hr, size_t hs,
         void *p, LIST),
        (queue, m, b, bo, ho, region, br, bs, hr, hs, p, PASS), NOTHING)
COMMAND_THAT(b, EnqueueWriteBufferRect,
        (QUEUE queue, cl_mem m, cl_bool b, SIZES bo, SIZES ho, SIZES region, size_t br, size_t bs, size_t hr, size_t hs,
         const void *p, LIST),
        (queue, m, b, bo, ho, region, br, bs, hr, hs, p, PASS), NOTHING)
COMMAND(EnqueueCopyBuffer, (QUEUE queue, cl_mem from, cl_mem to, size_t at, size_t offset, size_t size, LIST),
        (queue, from, to, at, offset, size, PASS),
        (expect_no_external("clEnqueueCopyBuffer", from), buffer_referenced(from), buffer_referenced(to)))
COMMAND(EnqueueCopyBufferRect,
        (QUEUE queue, cl_mem from, cl_mem to, SIZES so, SIZES d, SIZES region, size_t sr, size_t ss, size_t dr,
         size_t ds, LIST),
        (queue, from, to, so, d, region, sr, ss, dr, ds, PASS), (buffer_referenced(from), buffer_referenced(to)))
COMMAND(EnqueueFillBuffer,
        (QUEUE queue, cl_mem m, const void *pattern, size_t length, size_t offset, size_t size, LIST),
        (queue, m, pattern, length, offset, size, PASS), buffer_referenced(m))
COMMAND(EnqueueMigrateMemObjects, (QUEUE queue, cl_uint n, const cl_mem *m, cl_mem_migration_flags f, LIST),
        (queue, n, m, f, PASS), NOTHING)
COMMAND(EnqueueNDRangeKernel,
        (QUEUE queue, cl_kernel kernel, cl_uint n, SIZES offset, SIZES global, SIZES local, LIST),
        (queue, kernel, n, offset, global, local, PASS), NOTHING)
COMMAND(EnqueueTask, (QUEUE queue, cl_kernel kernel, LIST), (queue, kernel, PASS), NOTHING)
COMMAND(EnqueueNativeKernel,
        (QUEUE queue, void(CL_CALLBACK *f)(void *), void *a, size_t size, cl_uint n, const cl_mem *m, const void **p,
         LIST),
        (queue, f, a, size, n, m, p, PASS), NOTHING)
COMMAND_THAT(b, EnqueueReadImage,
        (QUEUE queue, cl_mem m, cl_bool b, SIZES origin, SIZES region, size_t row, size_t slice, void *p, LIST),
        (queue, m, b, origin, region, row, slice, p, PASS), NOTHING)
COMMAND_THAT(b, EnqueueWriteImage,
        (QUEUE queue, cl_mem m, cl_bool b, SIZES origin, SIZES region, size_t row, size_t slice, const void *p, LIST),
        (queue, m, b, origin, region, row, slice, p, PASS), NOTHING)
COMMAND(EnqueueFillImage, (QUEUE queue, cl_mem m, const void *color, SIZES origin, SIZES region, LIST),
        (queue, m, color, origin, region, PASS), NOTHING)
COMMAND(EnqueueCopyImage, (QUEUE queue, cl_mem from, cl_mem to, SIZES at, SIZES origin, SIZES region, LIST),
        (queue, from, to, at, origin, region, PASS), NOTHING)
COMMAND(EnqueueCopyImageToBuffer,
        (QUEUE queue, cl_mem from, cl_mem to, SIZES origin, SIZES region, size_t offset, LIST),
        (queue, from, to, origin, region, offset, PASS), buffer_referenced(to))
COMMAND(EnqueueCopyBufferToImage,
        (QUEUE queue, cl_mem from, cl_mem to, size_t offset, SIZES origin, SIZES region, LIST),
        (queue, from, to, offset, origin, region, PASS), buffer_referenced(from))

static cl_int CL_API_CALL our_EnqueueMarkerWithWaitList(cl_command_queue queue, LIST) {
    ORDERED_AS("clEnqueueMarkerWithWaitList");
    if (!count) gate_here(queue);
    cl_int result = below.clEnqueueMarkerWithWaitList(queue, PASS);
    return born("clEnqueueMarkerWithWaitList", result, queue, event);
}

static cl_int CL_API_CALL our_EnqueueMarker(cl_command_queue queue, cl_event *event) {
    return our_EnqueueMarkerWithWaitList(queue, 0, NULL, event);
}

/* Commands of this layer have to know what they stand behind. */
static void keep_barrier(cl_command_queue queue, cl_event barrier) {
    cl_event before = barrier;
    LOCK();
    struct queue *of = object_get(QUEUES, queue);
    if (of && !of->ordered) {
        before = of->barrier;
        of->barrier = barrier;
    }
    UNLOCK();
    if (before) below.clReleaseEvent(before);
}

static cl_int CL_API_CALL our_EnqueueBarrierWithWaitList(cl_command_queue queue, LIST) {
    ORDERED_AS("clEnqueueBarrierWithWaitList");
    cl_event barrier = NULL;
    if (!count) gate_here(queue);
    cl_int result = below.clEnqueueBarrierWithWaitList(queue, count, list, &barrier);
    if (result) return result;
    if (event) {
        below.clRetainEvent(barrier);
        *event = barrier;
    }
    keep_barrier(queue, barrier);
    return born("clEnqueueBarrierWithWaitList", result, queue, event);
}

static cl_int CL_API_CALL our_EnqueueBarrier(cl_command_queue queue) {
    return our_EnqueueBarrierWithWaitList(queue, 0, NULL, NULL);
}

static cl_int CL_API_CALL our_EnqueueWaitForEvents(cl_command_queue queue, cl_uint count, const cl_event *list) {
    return our_EnqueueBarrierWithWaitList(queue, count, list, NULL);
}

/* A buffer whose bytes are ours, pinned; null: what is mapped is mapped below. */
static struct buffer *buffer_of_ours(cl_mem memory) {
    LOCK();
    struct buffer *buffer = object_get(BUFFERS, memory);
    if (buffer && !buffer->storage) buffer = NULL;
    if (buffer) pin(buffer);
    UNLOCK();
    return buffer;
}

static void *CL_API_CALL our_EnqueueMapBuffer(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags,
                                              size_t offset, size_t size, LIST, cl_int *result) {
    struct answer ordered;
    struct plain plain;
    cl_int code;
    void *at;
    if (called("clEnqueueMapBuffer", &ordered)) {
        if (result) *result = (cl_int)ordered.code;
        return NULL;
    }
    if (flags & CL_MAP_READ) expect_no_external("clEnqueueMapBuffer", memory);
    struct buffer *buffer = buffer_of_ours(memory);
    if (buffer) {
        at = map_buffer(queue, buffer, blocking, flags, offset, size, PASS, &code);
        unpin(buffer);
    } else {
        list = plain_begin(&plain, "clEnqueueMapBuffer", queue, blocking, &count, list);
        at = below.clEnqueueMapBuffer(queue, memory, blocking, flags, offset, size, PASS, &code);
        plain_end(&plain);
        born("clEnqueueMapBuffer", code, queue, event);
    }
    if (result) *result = code;
    return at;
}

static cl_int CL_API_CALL our_EnqueueUnmapMemObject(cl_command_queue queue, cl_mem memory, void *at, LIST) {
    ORDERED_AS("clEnqueueUnmapMemObject");
    struct plain plain;
    struct buffer *buffer = buffer_of_ours(memory);
    if (buffer) {
        cl_int result = unmap_buffer(queue, buffer, at, PASS);
        unpin(buffer);
        return result;
    }
    list = plain_begin(&plain, "clEnqueueUnmapMemObject", queue, CL_FALSE, &count, list);
    cl_int result = below.clEnqueueUnmapMemObject(queue, memory, at, PASS);
    plain_end(&plain);
    return born("clEnqueueUnmapMemObject", result, queue, event);
}

static void *CL_API_CALL our_EnqueueMapImage(cl_command_queue queue, cl_mem memory, cl_bool blocking, cl_map_flags flags,
                                             SIZES origin, SIZES region, size_t *row, size_t *slice, LIST,
                                             cl_int *result) {
    struct answer ordered;
    cl_int code;
    if (called("clEnqueueMapImage", &ordered)) {
        if (result) *result = (cl_int)ordered.code;
        return NULL;
    }
    void *at = below.clEnqueueMapImage(queue, memory, blocking, flags, origin, region, row, slice, PASS, &code);
    if (result) *result = code;
    born("clEnqueueMapImage", code, queue, event);
    return at;
}

/* A kernel touches its arguments as well as clEnqueueFillBuffer does. */
static cl_int CL_API_CALL set_kernel_arg(cl_kernel kernel, cl_uint index, size_t size, const void *value) {
    ORDERED_AS("clSetKernelArg");
    if (value && size == sizeof(cl_mem)) buffer_referenced(*(const cl_mem *)value);
    return below.clSetKernelArg(kernel, index, size, value);
}

void enqueued_dispatch(void) {
    layer.clSetKernelArg = set_kernel_arg;
    layer.clEnqueueReadBuffer = our_EnqueueReadBuffer;
    layer.clEnqueueWriteBuffer = our_EnqueueWriteBuffer;
    layer.clEnqueueReadBufferRect = our_EnqueueReadBufferRect;
    layer.clEnqueueWriteBufferRect = our_EnqueueWriteBufferRect;
    layer.clEnqueueCopyBuffer = our_EnqueueCopyBuffer;
    layer.clEnqueueCopyBufferRect = our_EnqueueCopyBufferRect;
    layer.clEnqueueFillBuffer = our_EnqueueFillBuffer;
    layer.clEnqueueMapBuffer = our_EnqueueMapBuffer;
    layer.clEnqueueMapImage = our_EnqueueMapImage;
    layer.clEnqueueUnmapMemObject = our_EnqueueUnmapMemObject;
    layer.clEnqueueMigrateMemObjects = our_EnqueueMigrateMemObjects;
    layer.clEnqueueNDRangeKernel = our_EnqueueNDRangeKernel;
    layer.clEnqueueTask = our_EnqueueTask;
    layer.clEnqueueNativeKernel = our_EnqueueNativeKernel;
    layer.clEnqueueMarker = our_EnqueueMarker;
    layer.clEnqueueMarkerWithWaitList = our_EnqueueMarkerWithWaitList;
    layer.clEnqueueBarrier = our_EnqueueBarrier;
    layer.clEnqueueWaitForEvents = our_EnqueueWaitForEvents;
    layer.clEnqueueBarrierWithWaitList = our_EnqueueBarrierWithWaitList;
    layer.clEnqueueReadImage = our_EnqueueReadImage;
    layer.clEnqueueWriteImage = our_EnqueueWriteImage;
    layer.clEnqueueFillImage = our_EnqueueFillImage;
    layer.clEnqueueCopyImage = our_EnqueueCopyImage;
    layer.clEnqueueCopyImageToBuffer = our_EnqueueCopyImageToBuffer;
    layer.clEnqueueCopyBufferToImage = our_EnqueueCopyBufferToImage;
}
