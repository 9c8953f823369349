// SPDX-License-Identifier: Apache-2.0
/* A transfer, as all ways of cuFile carry it out; and the synchronous way. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "cufile.h"

static long micros(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000000 + now.tv_nsec / 1000;
}

struct place {
    struct memory_range range;
    struct buffer *buffer; /* registered by this very base */
    int unaligned;
    int direct;
};

static int check_context(const struct io *io, const struct memory_range *range) {
    /* The guide, chapter 3: called in a valid CUDA context. The reference, 5.2: pointers pertain to the current one. */
    int current = fake_cuda_current_device();
    if (current < 0) {
        complain("%s called by a thread without a context", io->function);
        return INVALID_CONTEXT;
    }
    if (range->type == MEMORY_DEVICE && range->device != current) {
        complain("%s: memory of device %d in a context of device %d", io->function, range->device, current);
        return CONTEXT_MISMATCH;
    }
    return OK;
}

/* Finds the memory. With the lock. */
static int find(const struct io *io, int context_needed, struct place *place) {
    if (!io->base || io->file_offset < 0 || io->buffer_offset < 0 || (ssize_t)io->size < 0) return INVALID;
    uint64_t address = io->base + (uint64_t)io->buffer_offset;
    fake_cuda_range(address, io->size, &place->range);
    if (place->range.type == MEMORY_FREED) {
        complain("%s: nothing is allocated at %#lx", io->function, (unsigned long)address);
        return POINTER_INVALID;
    }
    if (!place->range.inside) return POINTER_RANGE;
    if (place->range.type != MEMORY_DEVICE && !bool_parameter(ALLOW_SYSTEM_MEMORY)) return POINTER_INVALID;
    int error = context_needed ? check_context(io, &place->range) : OK;
    if (error) return error;
    place->buffer = buffer_of(io->base);
    if (place->buffer && (uint64_t)io->buffer_offset + io->size > place->buffer->size) return POINTER_RANGE;
    if (!place->buffer && buffer_around(address)) live("registered_by_other_base", 1);
    /* The guide, 3.3.4. */
    place->unaligned = (io->file_offset | (off_t)io->size | (off_t)(io->base % BLOCK) | io->buffer_offset) % BLOCK != 0;
    place->direct = !file_is_posix(io->file) && place->buffer && !place->unaligned;
    if (file_is_posix(io->file) && !compat_allowed()) return IO_NOT_SUPPORTED;
    return OK;
}

/*
 * With a "short_seed", one operation of four comes short by chance, as any read or write of the system may: what goes
 * past the page cache by whole blocks, what does not anywhere. Reads in a stream do not: a short one fails if its
 * transfer has a fence (StreamPathTest).
 */
static size_t shortened_by_chance(const struct io *io, size_t size) {
    static uint64_t state;
    long seed = property("short_seed", 0);
    if (!seed || io->file->gate || size < 2 || strcmp(io->function, "cuFileReadAsync") == 0) return size;
    uint64_t number = __atomic_add_fetch(&state, 0x9E3779B97F4A7C15ull, __ATOMIC_RELAXED) + (uint64_t)seed;
    number = (number ^ number >> 30) * 0xBF58476D1CE4E5B9ull;
    number = (number ^ number >> 27) * 0x94D049BB133111EBull;
    if (number >> 62) return size;
    size_t most = 1 + (number & 0xffffffff) % (size - 1), blocks = most / BLOCK * BLOCK;
    if (!(io->file->flags & O_DIRECT)) return most;
    return blocks ? blocks : size;
}

static ssize_t move(const struct io *io, const struct place *place) {
    size_t size = shortened_by_chance(io, shortened(io->function, io->size));
    int file_aligned = ((io->file_offset | (off_t)size) % BLOCK) == 0;
    if (io->opcode == READ) {
        /* Seen on an H200 (1.15.1): what lies in a hole is left as it is by the stream's calls, and by no other. */
        ssize_t moved = strcmp(io->function, "cuFileReadAsync") == 0
                ? read_extents(io->file, place->range.bytes, size, io->file_offset, file_aligned)
                : read_file(io->file, place->range.bytes, size, io->file_offset, file_aligned);
        /* Seen on an H200 (1.15.1): from amid a block over the end of the file it copies more than it says, zeros. */
        if (io->file_offset % BLOCK && moved > 0 && (size_t)moved < size) {
            memset(place->range.bytes + moved, 0, size - (size_t)moved);
        }
        return moved;
    }
    return write_file(io->file, place->range.bytes, size, io->file_offset, file_aligned && !place->unaligned);
}

/* The handle is in use since the operation was accepted; the memory only while it moves. */
ssize_t transfer(const struct io *io, int context_needed) {
    struct place place = {0};
    uint64_t address = io->base + (uint64_t)io->buffer_offset;
    LOCK();
    int error = find(io, context_needed, &place);
    if (!error) {
        fake_cuda_use(address, 1);
        if (place.buffer) place.buffer->using++;
        live("operations", 1);
    }
    UNLOCK();
    if (error) return -error;
    long start = micros();
    carry_out(io->function);
    struct answer late;
    ssize_t result;
    if (fails_late(io->function, &late)) {
        result = late.code;
        errno = (int)late.err;
    } else {
        result = io->size ? move(io, &place) : 0;
    }
    int number = errno;
    count_traffic(&(struct traffic){io->opcode, place.range.device, result, micros() - start, place.direct,
                                    place.unaligned, io->function[6] == 'B'});
    LOCK();
    /* Looked up again: a wrong program may have deregistered it meanwhile. */
    struct buffer *buffer = place.buffer ? buffer_of(io->base) : NULL;
    if (buffer && buffer->using) buffer->using--;
    fake_cuda_use(address, -1);
    live("operations", -1);
    pthread_cond_broadcast(&cufile_progress);
    UNLOCK();
    errno = number;
    return result;
}

static ssize_t at_once(const char *function, enum opcode opcode, void *handle, const void *base, size_t size,
                       off_t file_offset, off_t buffer_offset) {
    struct answer answer;
    if (called(function, &answer)) {
        errno = (int)answer.err;
        return answer.code;
    }
    LOCK();
    int error = driver_needed(function);
    struct file *file = error ? NULL : file_of(handle, function);
    if (file) file_use(file, 1);
    UNLOCK();
    if (!file) return -(error ? error : HANDLE_NOT_REGISTERED);
    struct io io = {function, file, opcode, (uint64_t)(uintptr_t)base, size, file_offset, buffer_offset};
    ssize_t result = transfer(&io, 1);
    int number = errno;
    LOCK();
    file_use(file, -1);
    UNLOCK();
    errno = number;
    return result;
}

EXPORT ssize_t cuFileRead(void *handle, void *base, size_t size, off_t file_offset, off_t buffer_offset) {
    return at_once(__func__, READ, handle, base, size, file_offset, buffer_offset);
}

EXPORT ssize_t cuFileWrite(void *handle, const void *base, size_t size, off_t file_offset, off_t buffer_offset) {
    return at_once(__func__, WRITE, handle, base, size, file_offset, buffer_offset);
}
