// SPDX-License-Identifier: Apache-2.0
/* Reads and writes between a file and a buffer: the manual, 3.5 and 3.6, checked in the order of the runtime. */
#include "ssg.h"

struct arguments {
    cl_command_queue queue;
    cl_mem buffer;
    size_t buffer_offset, size;
    cl_file_amd file;
    uint64_t file_offset;
};

static cl_int move(struct command *command) {
    struct view view = {.offset = command->buffer_offset, .size = command->size, .write = !command->write};
    cl_int result = view_open(&view, command->queue, command->buffer, command->memory);
    if (result) return CL_INVALID_OPERATION;
    result = command->write ? file_write(command->file, view.bytes, view.size, command->file_offset)
                            : file_read(command->file, view.bytes, view.size, command->file_offset);
    view_close(&view);
    return result;
}

static cl_int check_range(const char *function, const struct arguments *a, const struct buffer *buffer, size_t block) {
    if (!a->size || a->buffer_offset > buffer->size || a->size > buffer->size - a->buffer_offset)
        return refuse(function, CL_INVALID_VALUE, "%zu bytes at %zu of a buffer of %zu", a->size, a->buffer_offset,
                      buffer->size);
    if (a->buffer_offset % block || a->size % block || a->file_offset % block)
        return refuse(function, CL_INVALID_VALUE, "buffer offset %zu, size %zu, file offset %llu: no multiples of %zu",
                      a->buffer_offset, a->size, (unsigned long long)a->file_offset, block);
    return CL_SUCCESS;
}

/* With the lock. */
static struct finding find(const struct arguments *a, struct queue **queue, struct buffer **buffer, struct file **file) {
    const cl_mem_flags hidden = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    *queue = object_get(QUEUES, a->queue);
    *buffer = object_get(BUFFERS, a->buffer);
    *file = object_get(FILES, a->file);
    if (!*queue) return (struct finding){CL_INVALID_COMMAND_QUEUE, "no such queue"};
    if (!*buffer) return (struct finding){CL_INVALID_MEM_OBJECT, "no such buffer"};
    if ((*buffer)->flags & hidden)
        return (struct finding){CL_INVALID_OPERATION, "the host may not write the buffer"};
    if ((*queue)->context != (*buffer)->context)
        return (struct finding){CL_INVALID_CONTEXT, "queue and buffer are of different contexts"};
    if (!*file) return (struct finding){CL_INVALID_FILE_OBJECT_AMD, "no such file object"};
    return (struct finding){CL_SUCCESS, NULL};
}

/* The manual, chapter 4: persistent memory must be referenced by the GPU once before it is resident. */
static void expect_reference(const char *function, struct buffer *buffer) {
    LOCK();
    struct buffer *root = buffer->parent ? buffer->parent : buffer;
    int missing = root->flags & MEM_PERSISTENT && !root->referenced;
    root->referenced = 1;
    UNLOCK();
    if (!missing) return;
    live("unreferenced", 1);
    complain("%s: persistent memory that the device has not touched before (clEnqueueFillBuffer)", function);
}

static cl_int transfer(const char *function, int write, cl_bool blocking, const struct arguments *a, cl_uint count,
                       const cl_event *list, cl_event *event) {
    struct queue *queue;
    struct buffer *buffer;
    struct file *file;
    LOCK();
    struct finding found = find(a, &queue, &buffer, &file);
    if (!found.code) {
        pin(queue);
        pin(buffer);
        pin(file);
    }
    UNLOCK();
    if (found.code) return refuse(function, found.code, "%s", found.message);
    cl_int result = check_range(function, a, buffer, file->block);
    if (!result) result = wait_list_check(function, queue, count, list);
    if (!result) {
        expect_reference(function, buffer);
        expect_unmapped(function, buffer, a->buffer_offset, a->size, !write);
        cl_uint type = write ? CL_COMMAND_WRITE_SSG_FILE_AMD : CL_COMMAND_READ_SSG_FILE_AMD;
        struct command *command = command_new(function, type, queue, buffer);
        command->run = move;
        command->write = write;
        command->buffer_offset = a->buffer_offset;
        command->size = a->size;
        command->file_offset = a->file_offset;
        command->file = file;
        LOCK();
        use(file);
        UNLOCK();
        result = command_enqueue(command, count, list, blocking == CL_TRUE, event);
    }
    unpin(file);
    unpin(buffer);
    unpin(queue);
    return result;
}

cl_int clEnqueueReadSsgFileAMD(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t buffer_offset,
                               size_t size, cl_file_amd file, size_t file_offset, cl_uint count, const cl_event *list,
                               cl_event *event) {
    ORDERED();
    struct arguments arguments = {queue, buffer, buffer_offset, size, file, file_offset};
    return transfer(__func__, 0, blocking, &arguments, count, list, event);
}

cl_int clEnqueueWriteSsgFileAMD(cl_command_queue queue, cl_mem buffer, cl_bool blocking, size_t buffer_offset,
                                size_t size, cl_file_amd file, size_t file_offset, cl_uint count, const cl_event *list,
                                cl_event *event) {
    ORDERED();
    struct arguments arguments = {queue, buffer, buffer_offset, size, file, file_offset};
    return transfer(__func__, 1, blocking, &arguments, count, list, event);
}
