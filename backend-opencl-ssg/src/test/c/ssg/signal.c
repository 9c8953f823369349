// SPDX-License-Identifier: Apache-2.0
/* Signals between devices, checked in the order of the runtime; who waits is served once the marker is no less. */
#include <stdlib.h>
#include <string.h>

#include "ssg.h"

/* What a call needs of its buffers; with the lock. */
struct wanted {
    cl_command_queue queue;
    cl_mem_flags flags;
    cl_ulong offset; /* of a signal that is written */
    int writes;
};

static struct finding find_buffer(const struct wanted *wanted, cl_mem memory, struct buffer **buffer) {
    *buffer = object_get(BUFFERS, memory);
    if (!*buffer) return (struct finding){CL_INVALID_MEM_OBJECT, "no such buffer"};
    if (!((*buffer)->flags & wanted->flags)) return (struct finding){CL_INVALID_MEM_OBJECT, "not a buffer of this kind"};
    if (wanted->writes && (wanted->offset > SIZE_MAX - 4 || wanted->offset + 4 > (*buffer)->size + page_size()))
        return (struct finding){CL_INVALID_BUFFER_SIZE, "the signal lies behind the marker's page"};
    return (struct finding){CL_SUCCESS, NULL};
}

static struct finding find(const struct wanted *wanted, cl_mem memory, struct queue **queue, struct buffer **buffer) {
    *queue = object_get(QUEUES, wanted->queue);
    if (!*queue) return (struct finding){CL_INVALID_COMMAND_QUEUE, "no such queue"};
    struct finding found = find_buffer(wanted, memory, buffer);
    if (!found.code && (*queue)->context != (*buffer)->context)
        return (struct finding){CL_INVALID_CONTEXT, "queue and buffer are of different contexts"};
    return found;
}

static cl_int wait_is_over(struct command *command) {
    (void)command;
    return CL_SUCCESS;
}

static int has_come(struct command *command) {
    LOCK();
    uint32_t *marker = (uint32_t *)bus_bytes(command->marker, sizeof *marker);
    int come = marker && __atomic_load_n(marker, __ATOMIC_ACQUIRE) >= command->value;
    UNLOCK();
    return come;
}

static cl_int write_signal(struct command *command) {
    return signal_write(command->function, command->marker, command->value) ? CL_INVALID_OPERATION : CL_SUCCESS;
}

int signal_write(const char *who, uint64_t address, uint32_t value) {
    LOCK();
    uint32_t *marker = (uint32_t *)bus_bytes(address, sizeof *marker);
    uint32_t before = marker ? __atomic_exchange_n(marker, value, __ATOMIC_ACQ_REL) : 0;
    UNLOCK();
    if (!marker) {
        complain("%s: no device answers for a marker at bus address 0x%llx", who, (unsigned long long)address);
        return -1;
    }
    if (before >= value) complain("%s: signal %u does not rise above %u", who, value, before);
    wake();
    return 0;
}

static cl_int enqueue_signal(const char *function, cl_uint type, const struct wanted *wanted, cl_mem memory,
                             cl_uint value, cl_uint count, const cl_event *list, cl_event *event) {
    struct queue *queue;
    struct buffer *buffer;
    LOCK();
    struct finding found = find(wanted, memory, &queue, &buffer);
    if (!found.code) {
        pin(queue);
        pin(buffer);
    }
    UNLOCK();
    if (found.code) return refuse(function, found.code, "%s", found.message);
    cl_int result = wait_list_check(function, queue, count, list);
    if (!result) {
        if (!wanted->writes && !buffer->bus->resident)
            complain("%s: a buffer that is not resident has no bus address", function);
        struct command *command = command_new(function, type, queue, buffer);
        command->run = wanted->writes ? write_signal : wait_is_over;
        command->ready = wanted->writes ? NULL : has_come;
        command->marker = buffer->bus->marker + wanted->offset;
        command->value = value;
        result = command_enqueue(command, count, list, 0, event);
    }
    unpin(buffer);
    unpin(queue);
    return result;
}

cl_int clEnqueueWaitSignalAMD(cl_command_queue queue, cl_mem memory, cl_uint value, cl_uint count, const cl_event *list,
                              cl_event *event) {
    ORDERED();
    struct wanted wanted = {.queue = queue, .flags = MEM_BUS_ADDRESSABLE};
    return enqueue_signal(__func__, CL_COMMAND_WAIT_SIGNAL_AMD, &wanted, memory, value, count, list, event);
}

cl_int clEnqueueWriteSignalAMD(cl_command_queue queue, cl_mem memory, cl_uint value, cl_ulong offset, cl_uint count,
                               const cl_event *list, cl_event *event) {
    ORDERED();
    struct wanted wanted = {.queue = queue, .flags = MEM_EXTERNAL_PHYSICAL, .offset = offset, .writes = 1};
    return enqueue_signal(__func__, CL_COMMAND_WRITE_SIGNAL_AMD, &wanted, memory, value, count, list, event);
}

/* All buffers of one call, of which the command itself uses the first. */
struct residents {
    cl_uint count;
    cl_bus_address_amd *addresses;
    struct buffer *buffers[];
};

static cl_int tell_addresses(struct command *command) {
    struct residents *all = command->extra;
    LOCK();
    for (cl_uint i = 0; i < all->count; i++) {
        all->buffers[i]->bus->resident = 1;
        all->addresses[i].surface_bus_address = all->buffers[i]->bus->surface;
        all->addresses[i].marker_bus_address = all->buffers[i]->bus->marker;
    }
    UNLOCK();
    return CL_SUCCESS;
}

static void let_go(struct command *command) {
    struct residents *all = command->extra;
    for (cl_uint i = 1; i < all->count; i++) unuse(all->buffers[i]);
}

static struct finding find_all(
        cl_command_queue handle, const cl_mem *memory, struct residents *all, struct queue **queue) {
    struct wanted wanted = {.queue = handle, .flags = MEM_BUS_ADDRESSABLE};
    struct finding found = {CL_SUCCESS, NULL};
    for (cl_uint i = 0; !found.code && i < all->count; i++) found = find(&wanted, memory[i], queue, &all->buffers[i]);
    return found;
}

static cl_int make_resident(const char *function, struct queue *queue, struct residents *all, cl_bool blocking,
                            cl_uint count, const cl_event *list, cl_event *event) {
    cl_int result = wait_list_check(function, queue, count, list);
    if (result) return result;
    int room = 1;
    LOCK();
    for (cl_uint i = 0; i < all->count; i++) room &= bus_take_of_heap(all->buffers[i]->bus);
    for (cl_uint i = 1; room && i < all->count; i++) use(all->buffers[i]);
    UNLOCK();
    if (!room) return refuse(function, CL_OUT_OF_RESOURCES, "the heap of memory on the bus is too small");
    struct command *command = command_new(function, CL_COMMAND_MAKE_BUFFERS_RESIDENT_AMD, queue, all->buffers[0]);
    command->run = tell_addresses;
    command->ended = let_go;
    command->extra = all;
    return command_enqueue(command, count, list, blocking == CL_TRUE, event);
}

cl_int clEnqueueMakeBuffersResidentAMD(cl_command_queue handle, cl_uint count_of_buffers, cl_mem *memory,
                                       cl_bool blocking, cl_bus_address_amd *addresses, cl_uint count,
                                       const cl_event *list, cl_event *event) {
    ORDERED();
    LOCK();
    struct queue *queue = object_get(QUEUES, handle);
    UNLOCK();
    if (!queue) return refuse(__func__, CL_INVALID_COMMAND_QUEUE, "no such queue");
    if (!memory) return refuse(__func__, CL_INVALID_MEM_OBJECT, "no buffers");
    if (!addresses || !count_of_buffers) return refuse(__func__, CL_INVALID_VALUE, "no place for addresses");
    memset(addresses, 0, sizeof *addresses * count_of_buffers);
    struct residents *all = calloc(1, sizeof *all + sizeof *all->buffers * count_of_buffers);
    if (!all) abort();
    all->count = count_of_buffers;
    all->addresses = addresses;
    LOCK();
    struct finding found = find_all(handle, memory, all, &queue);
    if (!found.code) {
        pin(queue);
        for (cl_uint i = 0; i < all->count; i++) pin(all->buffers[i]);
    }
    UNLOCK();
    if (found.code) {
        free(all);
        return refuse(__func__, found.code, "%s", found.message);
    }
    struct buffer *pinned[all->count];
    memcpy(pinned, all->buffers, sizeof pinned);
    cl_int result = make_resident(__func__, queue, all, blocking, count, list, event);
    for (cl_uint i = 0; i < count_of_buffers; i++) unpin(pinned[i]);
    unpin(queue);
    if (result) free(all);
    return result;
}
