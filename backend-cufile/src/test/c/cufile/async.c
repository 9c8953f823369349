// SPDX-License-Identifier: Apache-2.0
/* Operations in a stream's order (the guide, 3.3.7, 3.6, 3.7; the reference, 5.4). */
#define _GNU_SOURCE
#include <stdlib.h>
#include <sys/uio.h>
#include <unistd.h>

#include "cufile.h"

enum { FIXED_BUFFER_OFFSET = 1, FIXED_FILE_OFFSET = 2, FIXED_SIZE = 4, PAGE_ALIGNED = 8, ALL_FLAGS = 15 };

struct registration {
    void *stream;
    unsigned flags;
    struct registration *next;
};

struct operation {
    struct io io;
    unsigned flags;
    const size_t *size;
    const off_t *file_offset, *buffer_offset;
    ssize_t *bytes;
    void *stream;
};

static struct registration *registrations;

/* The operation that was enqueued last: which stream had it, and where in its buffer it goes. */
static struct {
    const void *stream;
    off_t buffer_offset;
} last;

static struct registration *registration_of(void *stream) {
    struct registration *r = registrations;
    while (r && r->stream != stream) r = r->next;
    return r;
}

static void forget(struct registration *registration) {
    struct registration **link = &registrations;
    while (*link != registration) link = &(*link)->next;
    *link = registration->next;
    (void)fake_cuda_stream(registration->stream, -1);
    live("streams", -1);
    free(registration);
}

EXPORT CUfileError_t cuFileStreamRegister(void *stream, unsigned flags) {
    CALLED(AT_ONCE);
    LOCK();
    int error = driver_needed(__func__);
    if (!error && !property("streams", 1)) error = ASYNC_NOT_SUPPORTED;
    if (!error && (flags & ~(unsigned)ALL_FLAGS)) error = INVALID;
    if (!error && fake_cuda_stream(stream, 0) < 0) {
        complain("%s: no such stream", __func__);
        error = INVALID;
    }
    if (!error && registration_of(stream)) {
        complain("%s: the stream is registered", __func__);
        error = INVALID;
    }
    if (!error) {
        struct registration *made = malloc(sizeof *made);
        if (!made) abort();
        *made = (struct registration){stream, flags, registrations};
        registrations = made;
        (void)fake_cuda_stream(stream, 1);
        live("streams", 1);
    }
    UNLOCK();
    /* Both calls synchronize on the stream. */
    if (!error) fake_cuda_drain(stream);
    return RESULT(error);
}

EXPORT CUfileError_t cuFileStreamDeregister(void *stream) {
    CALLED(AT_ONCE);
    LOCK();
    struct registration *registration = registration_of(stream);
    int there = fake_cuda_stream(stream, 0) >= 0;
    UNLOCK();
    /* The guide, 3.7: I/O on the stream has completed, and the stream is still there. */
    if (!there) complain("%s: the stream was destroyed before", __func__);
    if (there && registration) fake_cuda_drain(stream);
    LOCK();
    registration = registration_of(stream);
    if (registration) forget(registration);
    UNLOCK();
    return RESULT(registration ? OK : INVALID);
}

long async_end(void) {
    long count = 0;
    for (; registrations; count++) forget(registrations);
    return count;
}

/* The application's cells, which it may have freed too early: that is a complaint, not a crash. */
static int look(const void *cell, void *value, size_t size) {
    struct iovec here = {value, size}, there = {(void *)(uintptr_t)cell, size};
    return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

static int tell(void *cell, void *value, size_t size) {
    struct iovec here = {value, size}, there = {cell, size};
    return process_vm_writev(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

/* What is not fixed is read now; what was said at submission is the most that the size may be. */
static int read_arguments(struct operation *op) {
    size_t most = op->io.size;
    int there = (op->flags & FIXED_SIZE) || look(op->size, &op->io.size, sizeof op->io.size);
    there &= (op->flags & FIXED_FILE_OFFSET) || look(op->file_offset, &op->io.file_offset, sizeof(off_t));
    there &= (op->flags & FIXED_BUFFER_OFFSET) || look(op->buffer_offset, &op->io.buffer_offset, sizeof(off_t));
    if (!there) complain("%s: the arguments are gone before the stream has passed", op->io.function);
    if (there && op->io.size > most) complain("%s: the size grew after submission", op->io.function);
    return there && op->io.size <= most;
}

static int aligned(const struct io *io) {
    return (io->file_offset | io->buffer_offset | (off_t)io->size) % BLOCK == 0;
}

/*
 * libcufile 1.15.1 in POSIX mode, seen on an H200 (tools/benchmarks/experiments/streams.c): where several streams are at work
 * and buffer offsets are not 0, bytes go where another stream's operation was to put its own, and the counts are right.
 * The mode is a file's: beside the kernel driver, files that it does not reach go that way.
 */
static void misplace(struct operation *op) {
    LOCK();
    if (file_is_posix(op->io.file) && op->io.buffer_offset && last.stream != op->stream) op->io.buffer_offset = last.buffer_offset;
    UNLOCK();
}

static void run(void *with) {
    struct operation *op = with;
    ssize_t result = -INVALID;
    if (read_arguments(op)) {
        misplace(op);
        if ((op->flags & PAGE_ALIGNED) && !aligned(&op->io))
            complain("%s: an unaligned transfer on a stream that was registered as aligned", op->io.function);
        else
            result = transfer(&op->io, 0);
    }
    if (!tell(op->bytes, &result, sizeof result))
        complain("%s: the cell for the result is gone before the stream has passed", op->io.function);
    LOCK();
    file_use(op->io.file, -1);
    live("async", -1);
    pthread_cond_broadcast(&cufile_progress);
    UNLOCK();
    free(op);
}

static int check(struct operation *op) {
    if (!op->size || !op->file_offset || !op->buffer_offset || !op->bytes || !op->io.base) return INVALID;
    if (!property("streams", 1)) return ASYNC_NOT_SUPPORTED;
    if (fake_cuda_current_device() < 0) {
        complain("%s called by a thread without a context", op->io.function);
        return INVALID_CONTEXT;
    }
    if (fake_cuda_stream(op->stream, 0) < 0) {
        complain("%s: no such stream", op->io.function);
        return INVALID;
    }
    if (*op->bytes) complain("%s: the cell for the result is not 0", op->io.function);
    struct registration *registration = registration_of(op->stream);
    op->flags = registration ? registration->flags : 0;
    op->io.size = *op->size;
    op->io.file_offset = *op->file_offset;
    op->io.buffer_offset = *op->buffer_offset;
    return OK;
}

static CUfileError_t enqueue(const struct operation *asked, void *handle) {
    struct operation *op = malloc(sizeof *op);
    if (!op) abort();
    *op = *asked;
    LOCK();
    int error = driver_needed(op->io.function);
    op->io.file = error ? NULL : file_of(handle, op->io.function);
    if (!error && !op->io.file) error = HANDLE_NOT_REGISTERED;
    if (!error) error = check(op);
    if (!error) {
        file_use(op->io.file, 1);
        live("async", 1);
        last.stream = op->stream;
        last.buffer_offset = op->io.buffer_offset;
    }
    UNLOCK();
    if (error) {
        free(op);
        return RESULT(error);
    }
    struct file *file = op->io.file;
    int cuda = fake_cuda_enqueue(asked->stream, asked->io.function, run, op);
    if (cuda) {
        LOCK();
        file_use(file, -1);
        live("async", -1);
        UNLOCK();
        free(op);
        return (CUfileError_t){CUDA_DRIVER_ERROR, cuda};
    }
    /* The reference, 5.4.3: without a stream the operation is synchronous. */
    if (!asked->stream) fake_cuda_drain(NULL);
    return RESULT(OK);
}

EXPORT CUfileError_t cuFileReadAsync(void *handle, void *base, size_t *size, off_t *file_offset, off_t *buffer_offset,
                                     ssize_t *bytes, void *stream) {
    CALLED(LATER);
    struct io io = {__func__, NULL, READ, (uint64_t)(uintptr_t)base, 0, 0, 0};
    return enqueue(&(struct operation){io, 0, size, file_offset, buffer_offset, bytes, stream}, handle);
}

EXPORT CUfileError_t cuFileWriteAsync(void *handle, void *base, size_t *size, off_t *file_offset, off_t *buffer_offset,
                                      ssize_t *bytes, void *stream) {
    CALLED(LATER);
    struct io io = {__func__, NULL, WRITE, (uint64_t)(uintptr_t)base, 0, 0, 0};
    return enqueue(&(struct operation){io, 0, size, file_offset, buffer_offset, bytes, stream}, handle);
}
