// SPDX-License-Identifier: Apache-2.0
/* File objects: the manual, 6.1 to 6.3. */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ssg.h"

static struct file *files;
static uint64_t last;

static int narrow(void) {
    return property("handle_bits", 64) == 32;
}

struct file *file_get(uint64_t handle) {
    for (struct file *file = files; file; file = file->next)
        if (file->handle == (narrow() ? (uint32_t)handle : handle)) return file;
    return NULL;
}

int64_t file_length(const struct file *file) {
    struct stat status;
    if (!property("growth_seen", 0)) return file->seen;
    return fstat(file->fd, &status) ? -1 : status.st_size;
}

EXPORT uint64_t glCreateFileAMD(const char *name, GLenum mode) {
    struct answer answer;
    if (called(__func__, &answer)) return 0;
    int flags = mode == GL_READ_ONLY    ? O_RDONLY
                : mode == GL_WRITE_ONLY ? O_WRONLY | O_CREAT
                : mode == GL_READ_WRITE ? O_RDWR | O_CREAT
                                        : -1;
    int fd = flags < 0 ? -1 : open(name, flags | O_CLOEXEC, 0666);
    struct stat status;
    /* The manual, 6.1: "the file must have read/write privileges", whatever it is opened for. By its mode: a test may be root. */
    if (fd < 0 || fstat(fd, &status) || !S_ISREG(status.st_mode) || !(status.st_mode & 0222) || !(status.st_mode & 0444)) {
        if (fd >= 0) close(fd);
        return 0;
    }
    struct file *file = calloc(1, sizeof *file);
    if (!file) abort();
    LOCK();
    *file = (struct file){.fd = fd, .mode = mode, .seen = status.st_size, .next = files};
    file->handle = narrow() ? ++last : ++last << 33 | 0x55;
    files = file;
    uint64_t handle = file->handle;
    UNLOCK();
    live("files", 1);
    return narrow() ? handle | 0xDEAD00000000u : handle;
}

static void forget(struct file *file) {
    struct file **link = &files;
    while (*link != file) link = &(*link)->next;
    *link = file->next;
    close(file->fd);
    free(file);
    live("files", -1);
}

EXPORT void glReleaseFileAMD(uint64_t handle) {
    struct answer answer;
    int fails = called(__func__, &answer);
    carry_out(__func__);
    LOCK();
    struct file *file = file_get(handle);
    if (file && file->operations) complain("glReleaseFileAMD: a file whose transfers run");
    int known = file != NULL;
    while ((file = file_get(handle)) && file->operations) pthread_cond_wait(&ssg_changed, &ssg_lock);
    if (file) forget(file);
    UNLOCK();
    if (fails) raise_error(__func__, (GLenum)answer.code, "as ordered");
    else if (!known) raise_error(__func__, GL_INVALID_OPERATION, "no such file");
}

EXPORT void glGetFileParameteri64vAMD(uint64_t handle, GLenum name, uint64_t *value) {
    struct answer answer;
    if (called(__func__, &answer)) {
        raise_error(__func__, (GLenum)answer.code, "as ordered");
        return;
    }
    LOCK();
    struct file *file = file_get(handle);
    int64_t length = file ? file_length(file) : 0;
    UNLOCK();
    if (!file) raise_error(__func__, GL_INVALID_VALUE, "no such file");
    else if (name == (GLenum)property("block_token", 0x7F01)) *value = (uint64_t)property("block_size", 512);
    else if (name == (GLenum)property("size_token", 0x7F02)) *value = (uint64_t)length;
    else raise_error(__func__, GL_INVALID_ENUM, "no such property");
}

void files_reset(void) {
    LOCK();
    while (files) {
        if (files->operations) pthread_cond_wait(&ssg_changed, &ssg_lock);
        else forget(files);
    }
    UNLOCK();
}
