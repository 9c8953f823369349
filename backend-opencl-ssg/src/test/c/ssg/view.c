// SPDX-License-Identifier: Apache-2.0
/* The bytes of a buffer for a command: its storage, or a copy that a queue of our own makes beside the application's. */
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
int is_mapped(const char *at, size_t size) {
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
static cl_int copy_open(struct view *view) {
    cl_int result;
    cl_context context = view->queue->context->object.handle;
    cl_command_queue inner = inner_queue(view->queue);
    view->copy = below.clCreateBuffer(context, CL_MEM_ALLOC_HOST_PTR, view->size, NULL, &result);
    if (result) return result;
    if (!view->write) result = copied(view, view->memory, view->copy, view->offset, 0);
    cl_map_flags how = view->write ? CL_MAP_WRITE_INVALIDATE_REGION : CL_MAP_READ;
    if (!result)
        view->bytes =
                below.clEnqueueMapBuffer(inner, view->copy, CL_TRUE, how, 0, view->size, 0, NULL, NULL, &result);
    if (result) below.clReleaseMemObject(view->copy);
    return result;
}

cl_int view_open(struct view *view, struct queue *queue, const struct buffer *buffer, cl_mem memory) {
    view->queue = queue;
    view->memory = memory;
    view->copy = NULL;
    if (!buffer->storage) return copy_open(view);
    view->bytes = buffer->storage + view->offset;
    const struct buffer *root = buffer->parent ? buffer->parent : buffer;
    if (!root->host || is_mapped(root->host + buffer->origin + view->offset, view->size)) return CL_SUCCESS;
    complain("the host's memory of a buffer is gone while a command uses it");
    return CL_INVALID_OPERATION;
}

void view_close(struct view *view) {
    cl_event event;
    if (!view->copy) return;
    if (below.clEnqueueUnmapMemObject(view->queue->inner, view->copy, view->bytes, 0, NULL, &event)) abort();
    below.clWaitForEvents(1, &event);
    below.clReleaseEvent(event);
    if (view->write && copied(view, view->copy, view->memory, 0, view->offset)) abort();
    below.clReleaseMemObject(view->copy);
}
