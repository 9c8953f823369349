// SPDX-License-Identifier: Apache-2.0
/* File handles: one for each descriptor, which stays open as long as its handle (the guide, 3.2 and 3.4). */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/kcmp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cufile.h"

enum { OPAQUE_FD = 1, TMPFS = 0x01021994 };

/* CUfileDescr_t: 24 bytes. */
struct descriptor {
    int type;
    union {
        int fd;
        void *handle;
    } handle;
    const void *operations;
};
_Static_assert(sizeof(struct descriptor) == 24, "CUfileDescr_t");

/* All that are not gone, some ended but still used. */
static struct file *files;

struct file *file_of(const void *handle, const char *function) {
    struct file *file = handle_get(handle, FILE_HANDLE);
    if (!file && handle_ended(handle, FILE_HANDLE)) complain("%s: the handle was deregistered", function);
    return file;
}

static void release(struct file *file) {
    struct file **link = &files;
    while (*link != file) link = &(*link)->next;
    *link = file->next;
    close(file->direct);
    close(file->posix);
    if (file->batch >= 0) close(file->batch);
    free(file);
}

int file_is_posix(const struct file *file) {
    return !direct_mode() || file->far || !(file->flags & O_DIRECT);
}

void file_use(struct file *file, int more) {
    file->using += more;
    if (file->ended && !file->using) release(file);
}

static void end(struct file *file) {
    handle_end(file->handle);
    live("handles", -1);
    file->ended = 1;
    if (!file->using) release(file);
}

/* Whether the application's descriptor is still that of the file that it was. */
static int still_open(const struct file *file) {
    struct stat now;
    if (fstat(file->fd, &now) || now.st_dev != file->device || now.st_ino != file->inode) return 0;
    long same = syscall(SYS_kcmp, getpid(), getpid(), KCMP_FILE, file->fd, file->direct);
    return same == 0 || (same < 0 && errno != EBADF);
}

static int check_file(int fd, const struct stat *status) {
    struct statfs system;
    if (!S_ISREG(status->st_mode) && !S_ISBLK(status->st_mode)) return FILE_TYPE;
    /* The reference, 5.2.1. */
    if (fcntl(fd, F_GETFL) & (O_APPEND | O_NONBLOCK | O_NOFOLLOW | O_NOATIME | O_DIRECTORY)) return OPEN_FLAG;
    /* Seen on an H200: without udev's word about the block device there is no handle, and tmpfs has no block device. */
    if (!property("udev", 1)) return HANDLE_NOT_REGISTERED;
    if (!fstatfs(fd, &system) && system.f_type == TMPFS && !property("tmpfs", 0)) return HANDLE_NOT_REGISTERED;
    if (!direct_mode() && !compat_allowed()) return IO_NOT_SUPPORTED;
    if (!(fcntl(fd, F_GETFL) & O_DIRECT) && !property("non_direct", 1)) return DIO_NOT_SET;
    return OK;
}

/* The guide, 3.2: in compatibility mode another descriptor is opened, without O_DIRECT; to read what a write merges. */
static int open_posix(int fd, int flags) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
    int access = (flags & O_ACCMODE) == O_RDONLY ? O_RDONLY : O_RDWR;
    int opened = open(path, access | (flags & (O_SYNC | O_DSYNC)) | O_CLOEXEC);
    return opened >= 0 ? opened : open(path, (flags & O_ACCMODE) | O_CLOEXEC);
}

/* False if the name of what a descriptor is open on cannot be read. */
static int name_of(int fd, char path[PATH_MAX + 1]) {
    char link[64];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, PATH_MAX);
    if (length < 0) return 0;
    path[length] = 0;
    return 1;
}

/* The disk of a test is any: one that the kernel driver does not reach is told by the file's name. */
static void take_name(struct file *file) {
    char path[PATH_MAX + 1];
    const char *name = name_of(file->fd, path) ? strrchr(path, '/') : NULL;
    file->far = name && strncmp(name, "/far", 4) == 0;
    file->gate = name && strcmp(name, "/gate") == 0;
}

static int make(int fd, struct file **file) {
    struct stat status;
    if (fstat(fd, &status)) return INVALID;
    int error = check_file(fd, &status);
    if (error) return error;
    for (struct file *f = files; f; f = f->next) {
        if (f->ended || f->fd != fd) continue;
        if (still_open(f)) return HANDLE_ALREADY_REGISTERED;
        complain("cuFileHandleRegister: descriptor %d was closed while its handle was registered", fd);
    }
    struct file *made = calloc(1, sizeof *made);
    if (!made) abort();
    made->fd = fd;
    made->flags = fcntl(fd, F_GETFL);
    made->device = status.st_dev;
    made->inode = status.st_ino;
    made->direct = fcntl(fd, F_DUPFD_CLOEXEC, 0);
    made->posix = open_posix(fd, made->flags);
    made->batch = -1;
    take_name(made);
    if (made->direct < 0 || made->posix < 0) {
        free(made);
        return INTERNAL;
    }
    made->handle = handle_new(FILE_HANDLE, made);
    made->next = files;
    files = made;
    live("handles", 1);
    *file = made;
    return OK;
}

/*
 * Seen on an H200 (1.15.1): the first entry of a file in a batch costs one more descriptor until the handle goes, and
 * entries of a file without a name are refused, so that it is opened by name.
 */
int file_for_batches(struct file *file) {
    char path[PATH_MAX + 1];
    struct stat status;
    if (file->batch >= 0) return 1;
    if (!name_of(file->direct, path)) return 0;
    file->batch = open(path, (file->flags & O_ACCMODE) | O_CLOEXEC);
    if (file->batch < 0) return 0;
    if (!fstat(file->batch, &status) && status.st_dev == file->device && status.st_ino == file->inode) return 1;
    close(file->batch);
    file->batch = -1;
    return 0;
}

EXPORT CUfileError_t cuFileHandleRegister(void **handle, const struct descriptor *descriptor) {
    CALLED(AT_ONCE);
    struct file *file;
    LOCK();
    int error = driver_needed(__func__);
    /* 2 is a Windows handle, 3 a file system in user space with operations of its own: neither is here. */
    if (!error && (!handle || !descriptor || descriptor->type != OPAQUE_FD)) error = INVALID;
    if (!error) error = make(descriptor->handle.fd, &file);
    if (!error) *handle = file->handle;
    UNLOCK();
    count_call(HANDLE_REGISTER, error);
    return RESULT(error);
}

EXPORT void cuFileHandleDeregister(void *handle) {
    struct answer ignored;
    (void)called(__func__, &ignored);
    carry_out(__func__);
    LOCK();
    struct file *file = file_of(handle, __func__);
    if (!file) {
        complain("%s: no such handle", __func__);
    } else {
        if (file->using) complain("%s: %d operations use the handle", __func__, file->using);
        if (!still_open(file)) complain("%s: descriptor %d was closed before", __func__, file->fd);
        end(file);
    }
    UNLOCK();
    count_call(HANDLE_DEREGISTER, !file);
}

long files_end(void) {
    long count = 0;
    for (struct file *file = files, *next; file; file = next) {
        next = file->next;
        if (file->ended) continue;
        count++;
        if (file->using) complain("cuFileDriverClose: %d operations use a handle", file->using);
        end(file);
    }
    return count;
}
