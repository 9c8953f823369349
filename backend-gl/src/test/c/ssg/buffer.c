// SPDX-License-Identifier: Apache-2.0
/* Buffers: how much of the visible memory is taken, and how operations reach what lies in them. */
#include <stdlib.h>

#include "ssg.h"

enum { VISIBLE = GL_MAP_READ_BIT | GL_MAP_WRITE_BIT | GL_MAP_PERSISTENT_BIT };

struct buffer {
    void *context; /* names are a context's own, for all that the fake knows */
    GLuint name;
    int64_t visible; /* bytes */
    void *memory;    /* while operations run, and until it is swept */
    int mapped;      /* by us, not by the application */
    long operations;
    struct buffer *next;
};

static struct buffer *buffers;
static int64_t used;

static struct buffer *find(GLuint name) {
    void *context = eglGetCurrentContext();
    for (struct buffer *buffer = buffers; buffer; buffer = buffer->next)
        if (buffer->context == context && buffer->name == name) return buffer;
    return NULL;
}

static struct buffer *of(GLuint name) {
    struct buffer *buffer = find(name);
    if (buffer) return buffer;
    buffer = calloc(1, sizeof *buffer);
    if (!buffer) abort();
    buffer->context = eglGetCurrentContext();
    buffer->name = name;
    buffer->next = buffers;
    return buffers = buffer;
}

EXPORT void glNamedBufferStorage(GLuint name, ptrdiff_t size, const void *data, GLbitfield flags) {
    int64_t most = property("visible_bytes", 0);
    int visible = (flags & VISIBLE) == VISIBLE && !(flags & GL_CLIENT_STORAGE_BIT) && most;
    if (visible) {
        LOCK();
        int fits = size <= most - used;
        if (fits) {
            used += size;
            of(name)->visible = size;
            live("visible_bytes", size);
        }
        UNLOCK();
        if (!fits) {
            raise_error(__func__, GL_OUT_OF_MEMORY, "the local visible memory is taken");
            return;
        }
    }
    real.glNamedBufferStorage(name, size, data, flags);
}

static void forget(struct buffer *buffer) {
    struct buffer **link = &buffers;
    while (*link != buffer) link = &(*link)->next;
    *link = buffer->next;
    used -= buffer->visible;
    if (buffer->visible) live("visible_bytes", -buffer->visible);
    free(buffer);
}

EXPORT void glDeleteBuffers(int count, const GLuint *names) {
    for (int i = 0; i < count; i++) view_forget(names[i]);
    real.glDeleteBuffers(count, names);
}

void view_forget(GLuint name) {
    LOCK();
    struct buffer *buffer;
    while ((buffer = find(name)) && buffer->operations) pthread_cond_wait(&ssg_changed, &ssg_lock);
    if (buffer) forget(buffer);
    UNLOCK();
}

struct buffer *view_open(GLuint name, int64_t size, char **address) {
    LOCK();
    struct buffer *buffer = of(name);
    buffer->operations++;
    void *memory = buffer->memory;
    UNLOCK();
    *address = memory;
    if (memory) return buffer;
    int mapped = 0;
    glGetNamedBufferParameteriv(name, GL_BUFFER_MAPPED, &mapped);
    if (mapped) glGetNamedBufferPointerv(name, GL_BUFFER_MAP_POINTER, &memory);
    else memory = glMapNamedBufferRange(name, 0, size, VISIBLE);
    if (!memory) abort(); /* persistent storage can be mapped */
    LOCK();
    buffer->memory = memory;
    buffer->mapped = !mapped;
    UNLOCK();
    *address = memory;
    return buffer;
}

void view_end(struct buffer *buffer) {
    buffer->operations--;
}

void views_sweep(void) {
    void *context = eglGetCurrentContext();
    for (;;) {
        LOCK();
        struct buffer *buffer = buffers;
        while (buffer && (!buffer->memory || buffer->operations || buffer->context != context)) buffer = buffer->next;
        GLuint unmapped = buffer && buffer->mapped ? buffer->name : 0;
        if (buffer) buffer->memory = NULL;
        if (buffer && !buffer->visible) forget(buffer);
        UNLOCK();
        if (!buffer) return;
        if (unmapped && glIsBuffer(unmapped)) glUnmapNamedBuffer(unmapped);
    }
}

void views_reset(void) {
    LOCK();
    while (buffers) {
        if (buffers->operations) pthread_cond_wait(&ssg_changed, &ssg_lock);
        else forget(buffers);
    }
    UNLOCK();
}
