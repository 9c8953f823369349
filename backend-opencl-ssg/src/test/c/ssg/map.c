// SPDX-License-Identifier: Apache-2.0
/* What the application has mapped: memory that commands must leave alone until it is unmapped. */
#include <stdlib.h>

#include "ssg.h"

struct map {
    size_t from, size; /* in the whole buffer */
    int writes;
    const void *at;
    struct map *next;
};

static struct buffer *root_of(struct buffer *buffer) {
    return buffer->parent ? buffer->parent : buffer;
}

void map_begin(cl_mem memory, cl_map_flags flags, size_t offset, size_t size, const void *at) {
    struct map *made = calloc(1, sizeof *made);
    if (!made) abort();
    LOCK();
    struct buffer *buffer = object_get(BUFFERS, memory);
    if (buffer) {
        *made = (struct map){buffer->origin + offset, size, flags != CL_MAP_READ, at, root_of(buffer)->maps};
        root_of(buffer)->maps = made;
    } else {
        free(made);
    }
    UNLOCK();
}

void map_end(cl_mem memory, const void *at) {
    LOCK();
    struct buffer *buffer = object_get(BUFFERS, memory);
    struct map **of = buffer ? &root_of(buffer)->maps : NULL;
    while (of && *of && (*of)->at != at) of = &(*of)->next;
    struct map *ended = of ? *of : NULL;
    if (ended) *of = ended->next;
    UNLOCK();
    free(ended);
}

void maps_forget(struct buffer *buffer) {
    for (struct map *map = buffer->maps, *next; map; map = next) {
        next = map->next;
        free(map);
    }
}

void expect_unmapped(const char *function, struct buffer *buffer, size_t offset, size_t size, int writes) {
    size_t from = buffer->origin + offset;
    LOCK();
    struct map *map = root_of(buffer)->maps;
    while (map && (!(writes || map->writes) || from >= map->from + map->size || map->from >= from + size))
        map = map->next;
    UNLOCK();
    if (map) complain("%s: the application has mapped what the command is to use", function);
}
