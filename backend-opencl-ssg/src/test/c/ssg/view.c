// SPDX-License-Identifier: Apache-2.0
/* The bytes of a buffer, by way of a queue of our own beside the application's. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "ssg.h"

static cl_command_queue inner_queue(struct queue *queue) {
    LOCK();
    cl_command_queue inner = queue->inner;
    UNLOCK();
    if (inner) return inner;
    cl_int result;
    cl_command_queue_properties properties = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    inner = below.clCreateCommandQueue(queue->context->object.handle, queue->device, properties, &result);
    if (result) abort();
    LOCK();
    if (!queue->inner) queue->inner = inner;
    cl_command_queue kept = queue->inner;
    UNLOCK();
    if (kept != inner) below.clReleaseCommandQueue(inner);
    return kept;
}

/* Memory of the application's that is not there any more would be the end of us. */
static int is_mapped(const char *at, size_t size) {
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    uintptr_t from = (uintptr_t)at / page * page;
    for (uintptr_t to = (uintptr_t)at + size; from < to; from += page) {
        unsigned char resident;
        if (mincore((void *)from, page, &resident)) return 0;
    }
    return 1;
}

static cl_int copied(struct view *view, cl_mem from, cl_mem to, size_t at, size_t offset) {
    cl_event event;
    cl_int result =
            below.clEnqueueCopyBuffer(view->queue->inner, from, to, at, offset, view->size, 0, NULL, &event);
    if (result) return result;
    result = below.clWaitForEvents(1, &event);
    below.clReleaseEvent(event);
    return result;
}

/*
 * Through a buffer of our own: an OpenCL that knows mappings by their address mixes up two of one buffer, and the
 * application's with ours. What the host may do with the buffer is no matter then either.
 */
cl_int view_open(struct view *view, struct queue *queue, const struct buffer *buffer, cl_mem memory) {
    cl_int result = CL_SUCCESS;
    view->queue = queue;
    view->memory = memory;
    inner_queue(queue);
    if (buffer->host && !is_mapped(buffer->host + view->offset, view->size)) {
        complain("the host's memory of a buffer is gone while a command uses it");
        return CL_INVALID_OPERATION;
    }
    cl_mem_flags flags = CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR;
    view->mapped = below.clCreateBuffer(queue->context->object.handle, flags, view->size, NULL, &result);
    if (result) return result;
    if (!view->write) result = copied(view, memory, view->mapped, view->offset, 0);
    cl_map_flags how = view->write ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
    if (!result)
        view->bytes = below.clEnqueueMapBuffer(
                queue->inner, view->mapped, CL_TRUE, how, 0, view->size, 0, NULL, NULL, &result);
    if (result) below.clReleaseMemObject(view->mapped);
    return result;
}

void view_close(struct view *view) {
    cl_event event;
    if (below.clEnqueueUnmapMemObject(view->queue->inner, view->mapped, view->bytes, 0, NULL, &event)) abort();
    below.clWaitForEvents(1, &event);
    below.clReleaseEvent(event);
    if (view->write && copied(view, view->mapped, view->memory, 0, view->offset)) abort();
    below.clReleaseMemObject(view->mapped);
}
