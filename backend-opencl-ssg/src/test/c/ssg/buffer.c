// SPDX-License-Identifier: Apache-2.0
/* Buffers, and the persistent memory of which there is little. */
#include <stdlib.h>

#include "ssg.h"

enum { HEAP_MIB = 128 };

static size_t heap_used; /* with the lock */

static void buffer_ends(struct object *object) {
    struct buffer *buffer = (struct buffer *)object;
    LOCK();
    if (buffer->persistent && counted(buffer)) {
        heap_used -= buffer->persistent;
        live("persistent_bytes", -(long)buffer->persistent);
    }
    maps_forget(buffer);
    if (buffer->bus) bus_end(buffer->bus, counted(buffer));
    UNLOCK();
    if (buffer->parent) unpin(buffer->parent);
    unpin(buffer->context);
}

/* What lived before a reset is not in this heap. */
void heap_reset(void) {
    LOCK();
    heap_used = 0;
    UNLOCK();
}

/* The manual, chapter 4: if the heap is consumed, the run time falls back to standard allocations, silently. */
static void take_of_heap(struct buffer *buffer) {
    size_t heap = (size_t)property("persistent_heap", (long)HEAP_MIB << 20);
    if (heap_used <= heap && buffer->size <= heap - heap_used) {
        buffer->persistent = buffer->size;
        heap_used += buffer->size;
        live("persistent_bytes", (long)buffer->size);
    } else {
        live("fallbacks", 1);
    }
}

static cl_int check(cl_mem_flags flags, size_t size, const void *host) {
    const cl_mem_flags bus = MEM_BUS_ADDRESSABLE | MEM_EXTERNAL_PHYSICAL;
    const cl_mem_flags other = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR | bus;
    cl_int code = flags & bus ? bus_buffer_check(flags, size, host) : CL_SUCCESS;
    if (!code && flags & MEM_PERSISTENT && flags & other)
        return refuse("clCreateBuffer", CL_INVALID_VALUE, "persistent memory is neither the host's nor the bus's");
    return code;
}

void buffer_born(cl_mem made, cl_context context, cl_mem_flags flags, size_t size, char *storage, void *host,
                 struct bus *bus) {
    LOCK();
    struct context *of = object_get(CONTEXTS, context);
    if (of) {
        struct buffer *buffer = object_new(BUFFERS, made, sizeof *buffer);
        buffer->object.end = buffer_ends;
        buffer->context = of;
        buffer->flags = flags;
        buffer->size = size;
        buffer->storage = storage;
        if (storage && flags & CL_MEM_USE_HOST_PTR) buffer->host = host;
        buffer->bus = bus;
        pin(of);
        if (flags & MEM_PERSISTENT) take_of_heap(buffer);
    }
    UNLOCK();
    if (!of) complain("a buffer is made of a context that the application does not hold");
}

static cl_mem answered(cl_int code, cl_int *result) {
    if (result) *result = code;
    return NULL;
}

static cl_mem CL_API_CALL create_buffer(
        cl_context context, cl_mem_flags flags, size_t size, void *host, cl_int *result) {
    struct answer ordered;
    if (called("clCreateBuffer", &ordered)) return answered((cl_int)ordered.code, result);
    int armed = property("armed", 0) != 0;
    cl_int code = armed ? check(flags, size, host) : CL_SUCCESS;
    if (code) return answered(code, result);
    if (armed && flags & (MEM_BUS_ADDRESSABLE | MEM_EXTERNAL_PHYSICAL))
        return bus_buffer(context, flags, size, host, result);
    char *storage = NULL;
    cl_mem made = armed ? storage_buffer(context, flags, size, host, &storage, result)
                        : below.clCreateBuffer(context, flags, size, host, result);
    if (made) buffer_born(made, context, armed ? flags : flags & ~MEM_AMD, size, storage, host, NULL);
    return made;
}

static cl_mem CL_API_CALL create_buffer_with(cl_context context, const cl_mem_properties *properties,
                                             cl_mem_flags flags, size_t size, void *host, cl_int *result) {
    if (!properties || !properties[0]) return create_buffer(context, flags, size, host, result);
    cl_mem made = below.clCreateBufferWithProperties(context, properties, flags, size, host, result);
    if (made) buffer_born(made, context, flags & ~MEM_AMD, size, NULL, NULL, NULL);
    return made;
}

static cl_mem CL_API_CALL create_sub_buffer(
        cl_mem memory, cl_mem_flags flags, cl_buffer_create_type type, const void *info, cl_int *result) {
    struct answer ordered;
    if (called("clCreateSubBuffer", &ordered)) return answered((cl_int)ordered.code, result);
    LOCK();
    struct buffer *parent = object_get(BUFFERS, memory);
    if (parent) pin(parent);
    UNLOCK();
    if (!parent) return answered(refuse("clCreateSubBuffer", CL_INVALID_MEM_OBJECT, "no such buffer"), result);
    if (parent->bus) {
        unpin(parent);
        return answered(refuse("clCreateSubBuffer", CL_INVALID_VALUE, "memory on the bus has no parts"), result);
    }
    cl_mem made = below.clCreateSubBuffer(memory, flags, type, info, result);
    if (!made) {
        unpin(parent);
        return NULL;
    }
    const cl_buffer_region *region = info;
    LOCK();
    struct buffer *buffer = object_new(BUFFERS, made, sizeof *buffer);
    buffer->object.end = buffer_ends;
    buffer->context = parent->context;
    buffer->parent = parent;
    buffer->origin = region->origin;
    buffer->flags = flags ? flags : parent->flags;
    buffer->size = region->size;
    buffer->storage = parent->storage ? parent->storage + region->origin : NULL;
    pin(buffer->context);
    UNLOCK();
    return made;
}

static cl_int CL_API_CALL memory_info(cl_mem memory, cl_mem_info what, size_t room, void *to, size_t *needed) {
    ORDERED_AS("clGetMemObjectInfo");
    cl_int result = below.clGetMemObjectInfo(memory, what, room, to, needed);
    if (result || !to) return result;
    LOCK();
    struct buffer *buffer = object_get(BUFFERS, memory);
    /* The memory below is the fake's business. */
    struct buffer *root = buffer && buffer->parent ? buffer->parent : buffer;
    int used = buffer && root->flags & CL_MEM_USE_HOST_PTR;
    int ours = buffer && buffer->storage && !used;
    if (buffer && buffer->storage && used && what == CL_MEM_HOST_PTR) *(void **)to = root->host + buffer->origin;
    const cl_mem_flags hidden = MEM_AMD | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR;
    if (ours && what == CL_MEM_HOST_PTR) *(void **)to = NULL;
    if (ours && what == CL_MEM_FLAGS)
        *(cl_mem_flags *)to = (*(cl_mem_flags *)to & ~(cl_mem_flags)CL_MEM_USE_HOST_PTR) | (buffer->flags & hidden);
    UNLOCK();
    return result;
}

void buffer_referenced(cl_mem memory) {
    LOCK();
    struct buffer *buffer = object_get(BUFFERS, memory);
    if (buffer) buffer->referenced = 1;
    UNLOCK();
}

void buffer_dispatch(void) {
    layer.clCreateBuffer = create_buffer;
    layer.clCreateBufferWithProperties = create_buffer_with;
    layer.clCreateSubBuffer = create_sub_buffer;
    layer.clGetMemObjectInfo = memory_info;
}
