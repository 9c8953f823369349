// SPDX-License-Identifier: Apache-2.0
/* Reads and writes between a file and a buffer: the manual, 6.4, 6.5 and 7. */
#define _GNU_SOURCE
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "ssg.h"

struct operation {
    const char *function;
    int write;
    GLuint buffer;
    struct file *file;
    uint64_t buffer_offset, file_offset, size;
    struct sync *sync; /* null: the caller waits */
    struct buffer *view;
    char *memory;
};

enum { VISIBLE = GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT };

/* Moves the bytes between file and memory; true if all went well. What is behind the end of the file reads as anything. */
static int move(const struct operation *o, char *memory) {
    struct answer answer;
    carry_out(o->function);
    if (fails_late(o->function, &answer)) return 0;
    uint64_t length = (uint64_t)file_length(o->file);
    uint64_t size = o->size;
    if (o->file_offset >= length && !(o->write && property("grows", 0))) return 0;
    if (o->file_offset + size > length && !(o->write && property("grows", 0))) size = length - o->file_offset;
    if (!o->write && size < o->size) memset(memory + size, 0xEE, o->size - size);
    for (uint64_t done = 0; done < size;) {
        off_t at = (off_t)(o->file_offset + done);
        ssize_t moved = o->write ? pwrite(o->file->fd, memory + done, size - done, at)
                                 : pread(o->file->fd, memory + done, size - done, at);
        if (moved <= 0) return 0;
        done += (uint64_t)moved;
    }
    return 1;
}

static void *run(void *given) {
    struct operation *o = given;
    move(o, o->memory + o->buffer_offset); /* its result is never reported */
    LOCK();
    if (--o->sync->operations == 0 && o->sync->deleted) sync_forget(o->sync);
    o->file->operations--;
    view_end(o->view);
    pthread_cond_broadcast(&ssg_changed);
    UNLOCK();
    live("operations", -1);
    free(o);
    return NULL;
}

static void start(const struct operation *given, int64_t buffer_size) {
    struct operation *o = malloc(sizeof *o);
    pthread_t thread;
    if (!o) abort();
    *o = *given;
    o->view = view_open(o->buffer, buffer_size, &o->memory);
    live("operations", 1);
    if (pthread_create(&thread, NULL, run, o)) abort();
    pthread_detach(thread);
}

/* In the caller's thread, through a buffer of its own: this one may be closed to the processor. */
static void block(const struct operation *o) {
    GLuint through = 0;
    char *memory = malloc(o->size);
    if (!memory) abort();
    if (o->write) glGetNamedBufferSubData(o->buffer, (ptrdiff_t)o->buffer_offset, (ptrdiff_t)o->size, memory);
    if (!move(o, memory)) {
        raise_error(o->function, GL_INVALID_OPERATION, "no access to the file");
    } else if (!o->write) {
        glCreateBuffers(1, &through);
        real.glNamedBufferStorage(through, (ptrdiff_t)o->size, memory, 0);
        glCopyNamedBufferSubData(through, o->buffer, 0, (ptrdiff_t)o->buffer_offset, (ptrdiff_t)o->size);
        real.glFinish();
        real.glDeleteBuffers(1, &through);
    }
    free(memory);
    LOCK();
    o->file->operations--;
    pthread_cond_broadcast(&ssg_changed);
    UNLOCK();
}

/* The error of the manual's table, or 0; with the lock. */
static GLenum check(const struct operation *o, int64_t buffer_size, const char **why) {
    uint64_t block = (uint64_t)property("block_size", 512);
    uint64_t length = o->file ? (uint64_t)file_length(o->file) : 0;
    GLenum other = o->write ? GL_READ_ONLY : GL_WRITE_ONLY;
    *why = "the file object is invalid";
    if (!o->file) return GL_INVALID_VALUE;
    *why = "invalid buffer-object name";
    if (buffer_size < 0) return GL_INVALID_VALUE;
    *why = "bufferOffset and size exceed the buffer";
    if (o->buffer_offset > (uint64_t)buffer_size || o->size > (uint64_t)buffer_size - o->buffer_offset)
        return GL_INVALID_VALUE;
    *why = "no multiples of the block size";
    if ((o->buffer_offset | o->file_offset | o->size) & (block - 1)) return GL_INVALID_VALUE;
    *why = "no access to the file";
    if (o->file->mode == other) return GL_INVALID_OPERATION;
    if (o->file_offset + o->size > (length + block - 1) / block * block && !(o->write && property("grows", 0)))
        return GL_INVALID_OPERATION;
    return GL_NO_ERROR;
}

/* Has an operation join a sync, and says by which it is to be waited for; with the lock. */
static GLsync join(struct operation *o, GLsync given) {
    struct sync *sync = property("sync", 0) == 1 ? sync_of(given, 0) : sync_find(given);
    if (!sync || (!sync->ours && property("sync", 0) != 1) || property("sync", 0) == 4)
        sync = sync_of(real.glFenceSync(GL_SYNC_GPU_COMMANDS_COMPLETE, 0), 1);
    sync->operations++;
    sync->context = eglGetCurrentContext();
    sync->flushed = 0; /* not this operation */
    o->sync = sync;
    return sync->handle;
}

/* Whether the call is to wait; or an error. */
static GLenum mode(const struct operation *o, const GLsync *sync, int *blocking, const char **why) {
    int flags = 0;
    *blocking = !sync;
    if (!sync) return GL_NO_ERROR;
    glGetNamedBufferParameteriv(o->buffer, GL_BUFFER_STORAGE_FLAGS, &flags);
    int right = (flags & VISIBLE) == VISIBLE && !(flags & GL_CLIENT_STORAGE_BIT);
    long wanted = property("sync", 0);
    *why = "a sync with this buffer";
    if (right ? wanted == 3 : !property("plain_sync", 0)) return GL_INVALID_OPERATION;
    *blocking = !right || wanted == 2;
    *why = "a sync that is none";
    return *blocking || *sync ? GL_NO_ERROR : GL_INVALID_OPERATION;
}

static void transfer(struct operation *o, uint64_t handle, GLsync *sync) {
    struct answer answer;
    int64_t size = -1;
    int blocking;
    const char *why;
    views_sweep();
    if (called(o->function, &answer)) {
        raise_error(o->function, (GLenum)answer.code, "as ordered");
        return;
    }
    if (glIsBuffer(o->buffer)) glGetNamedBufferParameteri64v(o->buffer, GL_BUFFER_SIZE, &size);
    LOCK();
    o->file = file_get(handle);
    GLenum error = check(o, size, &why);
    if (!error) o->file->operations++;
    UNLOCK();
    GLenum refused = error ? error : mode(o, sync, &blocking, &why);
    if (refused) {
        LOCK();
        if (!error) o->file->operations--;
        UNLOCK();
        raise_error(o->function, refused, why);
    } else if (blocking) {
        block(o);
    } else {
        LOCK();
        *sync = join(o, *sync);
        UNLOCK();
        start(o, size);
    }
}

EXPORT void glReadFileAMD(GLuint buffer, uint64_t file, uint64_t buffer_offset, uint64_t file_offset, uint64_t size,
                          GLsync *sync) {
    struct operation o = {.function = __func__, .buffer = buffer, .buffer_offset = buffer_offset,
                          .file_offset = file_offset, .size = size};
    transfer(&o, file, sync);
}

EXPORT void glWriteFileAMD(GLuint buffer, uint64_t file, uint64_t buffer_offset, uint64_t file_offset, uint64_t size,
                           GLsync *sync) {
    struct operation o = {.function = __func__, .write = 1, .buffer = buffer, .buffer_offset = buffer_offset,
                          .file_offset = file_offset, .size = size};
    transfer(&o, file, sync);
}
