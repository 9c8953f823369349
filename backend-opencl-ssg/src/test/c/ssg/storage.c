// SPDX-License-Identifier: Apache-2.0
/*
 * Where the device's bytes are. Below, every buffer of an SSG is memory of the host's, which is ours: so a transfer
 * reaches it without a command, as AMD's does, and at its speed. The application's host sees it only while it is mapped
 * (map.c), where it gave memory of its own too. What was made unarmed is reached by copies.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "ssg.h"

struct mapping {
    char *bytes;
    size_t size;
};

static void CL_CALLBACK unmap(cl_mem memory, void *of) {
    (void)memory;
    struct mapping *mapping = of;
    munmap(mapping->bytes, mapping->size);
    free(mapping);
}

/* The buffer below may outlive the application's hold on it. */
void storage_end_with(cl_mem memory, char *bytes, size_t size) {
    struct mapping *mapping = malloc(sizeof *mapping);
    if (!mapping) abort();
    *mapping = (struct mapping){bytes, size};
    if (below.clSetMemObjectDestructorCallback(memory, unmap, mapping)) abort();
}

/* The flags of a buffer whose memory is ours. */
cl_mem_flags storage_flags(cl_mem_flags flags) {
    return (flags & ~(MEM_AMD | CL_MEM_ALLOC_HOST_PTR | CL_MEM_COPY_HOST_PTR)) | CL_MEM_USE_HOST_PTR;
}

cl_mem storage_buffer(
        cl_context context, cl_mem_flags flags, size_t size, void *host, char **storage, cl_int *result) {
    *storage = NULL;
    int right = size && !host == !(flags & (CL_MEM_COPY_HOST_PTR | CL_MEM_USE_HOST_PTR));
    char *bytes = MAP_FAILED;
    if (right)
        bytes = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (bytes == MAP_FAILED) return below.clCreateBuffer(context, flags & ~MEM_AMD, size, host, result);
    if (host) memcpy(bytes, host, size);
    cl_mem made = below.clCreateBuffer(context, storage_flags(flags), size, bytes, result);
    if (made) storage_end_with(made, bytes, size);
    else munmap(bytes, size);
    *storage = made ? bytes : NULL;
    return made;
}
