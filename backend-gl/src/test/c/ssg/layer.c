// SPDX-License-Identifier: Apache-2.0
/* The fake as a libGL and a libEGL: what it adds to the real ones, and what it changes in their answers. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ssg.h"

struct real real;
pthread_mutex_t ssg_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t ssg_changed = PTHREAD_COND_INITIALIZER;

static __thread GLenum pending_error; /* a context is current on one thread */

static void *symbol(const char *library, const char *name) {
    void *handle = dlopen(library, RTLD_LAZY);
    void *found = handle ? dlsym(handle, name) : NULL;
    if (!found) {
        fprintf(stderr, "fake: no %s in %s\n", name, library);
        abort();
    }
    return found;
}

__attribute__((constructor)) static void find(void) {
#define REAL(library, name) *(void **)&real.name = symbol(library, #name)
    REAL("libOpenGL.so.0", glClientWaitSync);
    REAL("libOpenGL.so.0", glDeleteBuffers);
    REAL("libOpenGL.so.0", glDeleteSync);
    REAL("libOpenGL.so.0", glFenceSync);
    REAL("libOpenGL.so.0", glFinish);
    REAL("libOpenGL.so.0", glFlush);
    REAL("libOpenGL.so.0", glGetError);
    REAL("libOpenGL.so.0", glGetGraphicsResetStatus);
    REAL("libOpenGL.so.0", glGetIntegerv);
    REAL("libOpenGL.so.0", glGetStringi);
    REAL("libOpenGL.so.0", glNamedBufferStorage);
    REAL("libOpenGL.so.0", glWaitSync);
    REAL("libEGL.so.1", eglGetProcAddress);
    if (getenv("SSG_GL_EXTENSION")) fake_set("extension", 1); /* for a process that no test has a hand in */
}

void raise_error(const char *function, GLenum error, const char *why) {
    if (getenv("FAKES_TRACE")) fprintf(stderr, "fake: %s -> 0x%x: %s\n", function, error, why);
    if (!pending_error) pending_error = error;
}

EXPORT GLenum glGetError(void) {
    GLenum error = pending_error;
    pending_error = GL_NO_ERROR;
    if (error) return error;
    return property("reset_status", 0) ? GL_CONTEXT_LOST : real.glGetError();
}

EXPORT GLenum glGetGraphicsResetStatus(void) {
    long lost = property("reset_status", 0);
    return lost ? (GLenum)lost : real.glGetGraphicsResetStatus();
}

EXPORT void glGetIntegerv(GLenum name, int *value) {
    real.glGetIntegerv(name, value);
    if (name == GL_NUM_EXTENSIONS && property("extension", 0)) ++*value;
}

EXPORT const unsigned char *glGetStringi(GLenum name, GLuint index) {
    int count = 0;
    if (name == GL_EXTENSIONS && property("extension", 0)) {
        real.glGetIntegerv(GL_NUM_EXTENSIONS, &count);
        if (index == (GLuint)count) return (const unsigned char *)EXTENSION;
    }
    return real.glGetStringi(name, index);
}

EXPORT void *eglGetProcAddress(const char *name) {
    static const char *const functions[] = {"glCreateFileAMD", "glReleaseFileAMD", "glGetFileParameteri64vAMD",
                                            "glReadFileAMD", "glWriteFileAMD"};
    for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
        if (!strcmp(name, functions[i])) {
            Dl_info here;
            dladdr((void *)eglGetProcAddress, &here);
            return dlsym(dlopen(here.dli_fname, RTLD_LAZY), name);
        }
    return real.eglGetProcAddress(name);
}

void reset_library(void) {
    syncs_reset();
    files_reset();
    views_reset();
}
