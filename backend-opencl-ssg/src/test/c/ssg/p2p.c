// SPDX-License-Identifier: Apache-2.0
/* Copies between devices: cl_amd_copy_buffer_p2p, checked in the order of the runtime. */
#include <string.h>

#include "ssg.h"

static cl_int copy(struct command *command) {
    struct buffer *to = command->extra;
    /* A queue of the one context cannot touch the memory of the other. */
    struct queue here = {.context = command->buffer->context, .device = command->queue->device};
    struct queue there = {.context = to->context, .device = command->queue->device};
    struct view from = {.offset = command->buffer_offset, .size = command->size};
    struct view into = {.offset = command->other_offset, .size = command->size, .write = 1};
    cl_int result = view_open(&from, &here, command->buffer, command->memory);
    if (!result) {
        result = view_open(&into, &there, to, to->object.handle);
        if (!result) {
            memcpy(into.bytes, from.bytes, command->size);
            view_close(&into);
        }
        view_close(&from);
    }
    if (here.inner) below.clReleaseCommandQueue(here.inner);
    if (there.inner) below.clReleaseCommandQueue(there.inner);
    return result ? CL_INVALID_OPERATION : CL_SUCCESS;
}

static void let_go(struct command *command) {
    struct buffer *to = command->extra;
    cl_mem memory = to->object.handle;
    command->extra = NULL;
    unuse(to);
    below.clReleaseMemObject(memory);
}

static int within(const struct buffer *buffer, size_t offset, size_t size) {
    return size && offset <= buffer->size && size <= buffer->size - offset;
}

static struct finding check(const struct queue *queue, const struct buffer *from, const struct buffer *to,
                            const size_t *offsets, size_t size) {
    if (queue->context != from->context && queue->context != to->context)
        return (struct finding){CL_INVALID_CONTEXT, "neither buffer is of the queue's context"};
    if (!within(from, offsets[0], size) || !within(to, offsets[1], size))
        return (struct finding){CL_INVALID_VALUE, "not within the buffers"};
    if (from == to && offsets[0] < offsets[1] + size && offsets[1] < offsets[0] + size)
        return (struct finding){CL_MEM_COPY_OVERLAP, "the buffer overlaps itself"};
    return (struct finding){CL_SUCCESS, NULL};
}

static struct finding find(cl_command_queue handle, const cl_mem *memory, struct queue **queue, struct buffer **from,
                           struct buffer **to) {
    *queue = object_get(QUEUES, handle);
    *from = object_get(BUFFERS, memory[0]);
    *to = object_get(BUFFERS, memory[1]);
    if (!*queue) return (struct finding){CL_INVALID_COMMAND_QUEUE, "no such queue"};
    if (!*from || !*to) return (struct finding){CL_INVALID_MEM_OBJECT, "no such buffer"};
    return (struct finding){CL_SUCCESS, NULL};
}

cl_int clEnqueueCopyBufferP2PAMD(cl_command_queue handle, cl_mem from_memory, cl_mem to_memory, size_t from_offset,
                                 size_t to_offset, size_t size, cl_uint count, const cl_event *list, cl_event *event) {
    ORDERED();
    const cl_mem memory[] = {from_memory, to_memory};
    const size_t offsets[] = {from_offset, to_offset};
    struct queue *queue;
    struct buffer *from, *to;
    LOCK();
    struct finding found = find(handle, memory, &queue, &from, &to);
    if (!found.code) found = check(queue, from, to, offsets, size);
    if (!found.code) {
        pin(queue);
        pin(from);
        use(to);
    }
    UNLOCK();
    if (found.code) return refuse(__func__, found.code, "%s", found.message);
    /* Events of the other context are welcome here. */
    cl_int result = wait_list_check(__func__, NULL, count, list);
    if (!result) {
        below.clRetainMemObject(to_memory);
        struct command *command = command_new(__func__, CL_COMMAND_COPY_BUFFER, queue, from);
        command->run = copy;
        command->ended = let_go;
        command->extra = to;
        command->buffer_offset = from_offset;
        command->other_offset = to_offset;
        command->size = size;
        result = command_enqueue(command, count, list, 0, event);
    } else {
        unuse(to);
    }
    unpin(from);
    unpin(queue);
    return result;
}
