// SPDX-License-Identifier: Apache-2.0
/* clCreateBuffer of memory on the bus, checked in the order of the runtime. Below, it is the host's memory. */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ssg.h"

static const char CREATE[] = "clCreateBuffer";

static cl_int check_addresses(const cl_bus_address_amd *addresses) {
    size_t page = page_size();
    if (!addresses->surface_bus_address || addresses->surface_bus_address % page)
        return refuse(CREATE, CL_INVALID_HOST_PTR, "the surface's bus address is zero or not of a page");
    if (!addresses->marker_bus_address || addresses->marker_bus_address % page)
        return refuse(CREATE, CL_INVALID_HOST_PTR, "the marker's bus address is zero or not of a page");
    return CL_SUCCESS;
}

cl_int bus_buffer_check(cl_mem_flags flags, size_t size, const void *host) {
    const cl_mem_flags used = CL_MEM_USE_HOST_PTR | CL_MEM_ALLOC_HOST_PTR;
    const cl_mem_flags read = CL_MEM_COPY_HOST_PTR | CL_MEM_READ_WRITE | CL_MEM_READ_ONLY;
    int external = !!(flags & MEM_EXTERNAL_PHYSICAL);
    if (external && flags & (used | read))
        return refuse(CREATE, CL_INVALID_VALUE, "another device's memory is neither the host's nor read");
    if (flags & MEM_BUS_ADDRESSABLE && flags & used)
        return refuse(CREATE, CL_INVALID_VALUE, "memory on the bus is not the host's");
    if (!size) return refuse(CREATE, CL_INVALID_BUFFER_SIZE, "no bytes");
    if (!host != !(external || flags & CL_MEM_COPY_HOST_PTR))
        return refuse(CREATE, CL_INVALID_HOST_PTR, "a host pointer goes with flags that use one");
    return external ? check_addresses(host) : CL_SUCCESS;
}

static struct bus *bus_for(cl_mem_flags flags, size_t size, const void *host) {
    LOCK();
    struct bus *bus;
    if (flags & MEM_EXTERNAL_PHYSICAL) {
        const cl_bus_address_amd *addresses = host;
        bus = bus_external(addresses->surface_bus_address, addresses->marker_bus_address, size);
    } else {
        bus = bus_addressable(size);
    }
    UNLOCK();
    return bus;
}

static void forget(struct bus *bus) {
    munmap(bus->bytes, bus->size);
    LOCK();
    bus_end(bus, 1);
    UNLOCK();
}

static void *answer(cl_int code, cl_int *result) {
    if (result) *result = code;
    return NULL;
}

cl_mem bus_buffer(cl_context context, cl_mem_flags flags, size_t size, const void *host, cl_int *result) {
    size_t rounded = whole_pages(size);
    if (flags & MEM_EXTERNAL_PHYSICAL) flags |= CL_MEM_WRITE_ONLY;
    struct bus *bus = bus_for(flags, rounded, host);
    LOCK();
    int room = !bus->owned || !property("gma_eager", 0) || bus_take_of_heap(bus);
    UNLOCK();
    if (!room) {
        forget(bus);
        cl_int code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
        return answer(refuse(CREATE, code, "the heap of memory on the bus is too small"), result);
    }
    if (flags & CL_MEM_COPY_HOST_PTR) memcpy(bus->bytes, host, size);
    cl_mem made = below.clCreateBuffer(context, storage_flags(flags), rounded, bus->bytes, result);
    if (!made) {
        forget(bus);
        return NULL;
    }
    storage_end_with(made, bus->bytes, rounded);
    buffer_born(made, context, flags, rounded, bus->bytes, NULL, bus);
    return made;
}

void expect_no_external(const char *function, cl_mem memory) {
    LOCK();
    struct buffer *buffer = object_get(BUFFERS, memory);
    int external = buffer && buffer->flags & MEM_EXTERNAL_PHYSICAL;
    UNLOCK();
    if (external) complain("%s: another device's memory is only written to", function);
}
