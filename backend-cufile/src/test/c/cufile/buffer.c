// SPDX-License-Identifier: Apache-2.0
/* Registered buffers (the guide, 3.3 and 3.5): mapped into the GPU's BAR, in pages of 64 KiB, of which there may be few. */
#include <stdlib.h>

#include "cufile.h"

static struct buffer *buffers;

struct buffer *buffer_around(uint64_t address) {
    for (struct buffer *b = buffers; b; b = b->next)
        if (address >= b->base && address - b->base < b->size) return b;
    return NULL;
}

struct buffer *buffer_of(uint64_t base) {
    for (struct buffer *b = buffers; b; b = b->next)
        if (b->base == base) return b;
    return NULL;
}

static size_t mapped(uint64_t base, size_t size) {
    return (base + size + GPU_PAGE - 1) / GPU_PAGE * GPU_PAGE - base / GPU_PAGE * GPU_PAGE;
}

size_t registered_bytes(int device) {
    size_t sum = 0;
    for (struct buffer *b = buffers; b; b = b->next)
        if (b->device == device) sum += mapped(b->base, b->size);
    return sum;
}

/* The reference, 5.3.1, in the order of what can be known. */
static int check(uint64_t base, size_t size, int flags, struct memory_range *range) {
    if (!base || !size || (flags & ~3)) return INVALID;
    fake_cuda_range(base, size, range);
    if (range->type == MEMORY_FREED) return POINTER_INVALID;
    if (!range->inside) return POINTER_RANGE;
    for (struct buffer *b = buffers; b; b = b->next)
        if (b->base < base + size && base < b->base + b->size) return ALREADY_REGISTERED;
    if (range->type != MEMORY_DEVICE) return bool_parameter(ALLOW_SYSTEM_MEMORY) ? OK : POINTER_INVALID;
    int device = fake_cuda_current_device();
    if (device < 0) {
        complain("cuFileBufRegister called by a thread without a context");
        return INVALID_CONTEXT;
    }
    if (device != range->device) {
        complain("cuFileBufRegister: memory of device %d in a context of device %d", range->device, device);
        return CONTEXT_MISMATCH;
    }
    size_t kb = (registered_bytes(device) + mapped(base, size)) / 1024;
    if (kb > (size_t)property("bar_kb", 256L << 20)) return MAPPING_SIZE;
    if (kb > size_parameter(MAX_PINNED_KB)) return PINNING_FAILED;
    return OK;
}

EXPORT CUfileError_t cuFileBufRegister(const void *memory, size_t size, int flags) {
    CALLED(AT_ONCE);
    uint64_t base = (uint64_t)(uintptr_t)memory;
    struct memory_range range = {0};
    LOCK();
    int error = driver_needed(__func__);
    if (!error) error = check(base, size, flags, &range);
    if (!error) {
        struct buffer *made = calloc(1, sizeof *made);
        if (!made) abort();
        *made = (struct buffer){base, size, range.type == MEMORY_DEVICE ? range.device : -1, 0, buffers};
        buffers = made;
        fake_cuda_registered(base, 1);
        live("buffers", 1);
        live("registered_bytes", (long)size);
    }
    UNLOCK();
    count_call(BUFFER_REGISTER, error);
    if (range.type == MEMORY_DEVICE) count_mapping(range.device, size, 1, error);
    return RESULT(error);
}

static void end(struct buffer *buffer) {
    struct buffer **link = &buffers;
    while (*link != buffer) link = &(*link)->next;
    *link = buffer->next;
    fake_cuda_registered(buffer->base, -1);
    live("buffers", -1);
    live("registered_bytes", -(long)buffer->size);
    if (buffer->device >= 0) count_mapping(buffer->device, buffer->size, -1, 0);
    free(buffer);
}

EXPORT CUfileError_t cuFileBufDeregister(const void *memory) {
    CALLED(AT_ONCE);
    uint64_t base = (uint64_t)(uintptr_t)memory;
    LOCK();
    struct buffer *buffer = buffer_of(base), *around = buffer_around(base);
    if (!buffer && around)
        complain("%s: the buffer was registered by %#lx, not by %#lx", __func__, (unsigned long)around->base,
                 (unsigned long)base);
    int error = !driver_open_count() ? DRIVER_NOT_INITIALIZED : buffer ? OK : MEMORY_NOT_REGISTERED;
    if (!error) {
        if (buffer->using) complain("%s: %d operations use the buffer", __func__, buffer->using);
        end(buffer);
    }
    UNLOCK();
    count_call(BUFFER_DEREGISTER, error);
    return RESULT(error);
}

long buffers_end(void) {
    long count = 0;
    while (buffers) {
        end(buffers);
        count++;
    }
    return count;
}
