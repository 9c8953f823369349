// SPDX-License-Identifier: Apache-2.0
/*
 * Mapped memory: a copy of a buffer's bytes on the host, as where the device has memory of its own. A map brings the device's
 * bytes, an unmap takes those of a map for writing back; in between neither sees what the other writes. What the host
 * must not read holds POISON: a range that was unmapped, or that was mapped to be written as a whole.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ssg.h"

enum { POISON = 0xA5 };

struct map {
    unsigned long number;
    size_t from, size; /* in the whole buffer */
    cl_map_flags flags;
    int there; /* the bytes have come */
    struct map *next;
};

/* What a command of the layer is to do. */
struct exchange {
    unsigned long number; /* of the map */
    size_t from, size;
    char bytes[]; /* that go to the device */
};

static unsigned long numbers; /* with the lock */

static struct buffer *root_of(struct buffer *buffer) {
    return buffer->parent ? buffer->parent : buffer;
}

static int meet(const struct map *map, size_t from, size_t size) {
    return from < map->from + map->size && map->from < from + size;
}

static struct map **place(struct buffer *root, unsigned long number) {
    struct map **at = &root->maps;
    while (*at && (*at)->number != number) at = &(*at)->next;
    return at;
}

/* The host's copy of all bytes, which an application's own memory is as well. */
static char *host_of(struct buffer *root) {
    if (!root->host) {
        void *made = mmap(NULL, root->size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (made == MAP_FAILED) abort();
        root->host = made;
    }
    return root->host;
}

void maps_forget(struct buffer *buffer) {
    for (struct map *map = buffer->maps, *next; map; map = next) {
        next = map->next;
        free(map);
    }
    if (buffer->host && !(buffer->flags & CL_MEM_USE_HOST_PTR)) munmap(buffer->host, buffer->size);
}

void expect_unmapped(const char *function, struct buffer *buffer, size_t offset, size_t size, int writes) {
    LOCK();
    struct map *map = root_of(buffer)->maps;
    while (map && ((!writes && map->flags == CL_MAP_READ) || !meet(map, buffer->origin + offset, size))) map = map->next;
    UNLOCK();
    if (map) complain("%s: the application has mapped what the command is to use", function);
}

/* The bytes come to the host. */
static cl_int arrive(struct command *command) {
    struct exchange *exchange = command->extra;
    struct buffer *root = root_of(command->buffer);
    LOCK();
    struct map *map = *place(root, exchange->number);
    int there = map && is_mapped(root->host + map->from, map->size);
    if (there && map->flags & CL_MAP_WRITE_INVALIDATE_REGION) memset(root->host + map->from, POISON, map->size);
    else if (there) memcpy(root->host + map->from, root->storage + map->from, map->size);
    if (there) map->there = 1;
    UNLOCK();
    if (map && !there) complain("clEnqueueMapBuffer: the host's memory of a buffer is gone while it is mapped");
    return CL_SUCCESS;
}

/* A map that has failed is none. */
static void arrived(struct command *command) {
    struct exchange *exchange = command->extra;
    LOCK();
    struct map **at = place(root_of(command->buffer), exchange->number), *map = *at;
    if (map && map->there) map = NULL;
    if (map) *at = map->next;
    UNLOCK();
    free(map);
}

/* The bytes go to the device. */
static cl_int depart(struct command *command) {
    struct exchange *exchange = command->extra;
    LOCK();
    memcpy(root_of(command->buffer)->storage + exchange->from, exchange->bytes, exchange->size);
    UNLOCK();
    return CL_SUCCESS;
}

static struct exchange *exchange_new(size_t size) {
    struct exchange *made = calloc(1, sizeof *made + size);
    if (!made) abort();
    return made;
}

/* With the lock. */
static struct finding check(const struct queue *queue, struct buffer *buffer, cl_map_flags flags, size_t offset,
                            size_t size) {
    const cl_mem_flags unread = CL_MEM_HOST_WRITE_ONLY | CL_MEM_HOST_NO_ACCESS;
    const cl_mem_flags unwritten = CL_MEM_HOST_READ_ONLY | CL_MEM_HOST_NO_ACCESS;
    if (!queue) return (struct finding){CL_INVALID_COMMAND_QUEUE, "no such queue"};
    if (queue->context != buffer->context)
        return (struct finding){CL_INVALID_CONTEXT, "queue and buffer are of different contexts"};
    if (!size || offset > buffer->size || size > buffer->size - offset)
        return (struct finding){CL_INVALID_VALUE, "not within the buffer"};
    if (buffer->flags & ((flags & CL_MAP_READ ? unread : 0) | (flags & ~(cl_map_flags)CL_MAP_READ ? unwritten : 0)))
        return (struct finding){CL_INVALID_OPERATION, "the host may not do that with the buffer"};
    for (struct map *map = root_of(buffer)->maps; map; map = map->next)
        if (meet(map, buffer->origin + offset, size) && (map->flags | flags) != CL_MAP_READ)
            return (struct finding){CL_INVALID_OPERATION, "what is mapped for writing overlaps another map"};
    return (struct finding){CL_SUCCESS, NULL};
}

void *map_buffer(cl_command_queue handle, struct buffer *buffer, cl_bool blocking, cl_map_flags flags, size_t offset,
                 size_t size, cl_uint count, const cl_event *list, cl_event *event, cl_int *result) {
    const char *function = "clEnqueueMapBuffer";
    struct map *map = calloc(1, sizeof *map);
    struct exchange *exchange = exchange_new(0);
    if (!map) abort();
    LOCK();
    struct queue *queue = object_get(QUEUES, handle);
    struct finding found = check(queue, buffer, flags, offset, size);
    struct buffer *root = root_of(buffer);
    char *at = NULL;
    if (!found.code) {
        *map = (struct map){++numbers, buffer->origin + offset, size, flags, 0, root->maps};
        root->maps = map;
        exchange->number = map->number;
        at = host_of(root) + map->from;
        pin(queue);
    }
    UNLOCK();
    *result = found.code ? refuse(function, found.code, "%s", found.message)
                         : wait_list_check(function, queue, count, list);
    if (*result) {
        if (!found.code) {
            LOCK();
            *place(root, exchange->number) = map->next;
            UNLOCK();
            unpin(queue);
        }
        free(map);
        free(exchange);
        return NULL;
    }
    struct command *command = command_new(function, CL_COMMAND_MAP_BUFFER, queue, buffer);
    command->run = arrive;
    command->ended = arrived;
    command->extra = exchange;
    *result = command_enqueue(command, count, list, blocking == CL_TRUE, event);
    unpin(queue);
    return at;
}

/* Takes the bytes of the map that ends, and spoils what the host must not read any more; with the lock. */
static struct exchange *departing(struct buffer *root, const char *at) {
    struct map **place = &root->maps;
    while (*place && root->host + (*place)->from != at) place = &(*place)->next;
    struct map *map = *place;
    if (!map) return NULL;
    *place = map->next;
    int there = map->there && is_mapped(at, map->size);
    size_t size = there && map->flags != CL_MAP_READ ? map->size : 0;
    struct exchange *made = exchange_new(size);
    made->from = map->from;
    made->size = size;
    memcpy(made->bytes, at, size);
    struct map *other = root->maps;
    while (other && !meet(other, map->from, map->size)) other = other->next;
    if (there && !other) memset(root->host + map->from, POISON, map->size);
    free(map);
    return made;
}

cl_int unmap_buffer(cl_command_queue handle, struct buffer *buffer, const void *at, cl_uint count, const cl_event *list,
                    cl_event *event) {
    const char *function = "clEnqueueUnmapMemObject";
    LOCK();
    struct queue *queue = object_get(QUEUES, handle);
    if (queue) pin(queue);
    UNLOCK();
    if (!queue) return refuse(function, CL_INVALID_COMMAND_QUEUE, "no such queue");
    cl_int result = wait_list_check(function, queue, count, list);
    if (!result) {
        LOCK();
        struct exchange *exchange = departing(root_of(buffer), at);
        UNLOCK();
        if (exchange) {
            struct command *command = command_new(function, CL_COMMAND_UNMAP_MEM_OBJECT, queue, buffer);
            command->run = depart;
            command->extra = exchange;
            result = command_enqueue(command, count, list, 0, event);
        } else {
            result = refuse(function, CL_INVALID_VALUE, "%p is not where the buffer is mapped", at);
        }
    }
    unpin(queue);
    return result;
}
