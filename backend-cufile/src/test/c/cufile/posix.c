// SPDX-License-Identifier: Apache-2.0
/* What a transfer does to the file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cufile.h"

static ssize_t read_all(int fd, char *bytes, size_t size, off_t offset) {
    size_t done = 0;
    while (done < size) {
        ssize_t more = pread(fd, bytes + done, size - done, offset + (off_t)done);
        if (more < 0 && errno == EINTR) continue;
        if (more < 0) return done ? (ssize_t)done : -1;
        if (!more) break;
        done += (size_t)more;
        /* O_DIRECT ends in the middle of a block only where the file does. */
        if (more % BLOCK) break;
    }
    return (ssize_t)done;
}

static ssize_t write_all(int fd, const char *bytes, size_t size, off_t offset) {
    size_t done = 0;
    while (done < size) {
        ssize_t more = pwrite(fd, bytes + done, size - done, offset + (off_t)done);
        if (more < 0 && errno == EINTR) continue;
        if (more <= 0) return done ? (ssize_t)done : -1;
        done += (size_t)more;
    }
    return (ssize_t)done;
}

ssize_t read_file(const struct file *file, char *bytes, size_t size, off_t offset, int aligned) {
    if ((file->flags & O_ACCMODE) == O_WRONLY) {
        errno = EBADF;
        return -1;
    }
    int direct = aligned && (uintptr_t)bytes % BLOCK == 0;
    /* The descriptor without O_DIRECT may stop anywhere; once more from there finds the end or the rest. */
    ssize_t done = read_all(direct ? file->direct : file->posix, bytes, size, offset);
    if (!direct && done > 0 && (size_t)done < size) {
        ssize_t rest = read_all(file->posix, bytes + done, size - (size_t)done, offset + done);
        if (rest > 0) done += rest;
    }
    return done;
}

ssize_t read_extents(const struct file *file, char *bytes, size_t size, off_t offset, int aligned) {
    struct stat status;
    if (fstat(file->posix, &status)) return -1;
    off_t end = status.st_size < offset + (off_t)size ? status.st_size : offset + (off_t)size;
    for (off_t at = offset; at < end;) {
        off_t data = lseek(file->posix, at, SEEK_DATA);
        if (data < 0 || data >= end) break; /* all that is left is a hole */
        off_t hole = lseek(file->posix, data, SEEK_HOLE);
        at = hole < 0 || hole > end ? end : hole;
        ssize_t got = read_file(file, bytes + (data - offset), (size_t)(at - data), data, aligned && at % BLOCK == 0);
        if (got < 0) return -1;
        if (got < at - data) return data - offset + got;
    }
    return end > offset ? end - offset : 0;
}

/*
 * The guide, 3.3.4: "When the write workload is unaligned, GDS uses Read-Modify-Write internally using POSIX mode." Whole
 * blocks are read, merged and written, without a lock: concurrent writes to them are lost. Operations
 * of "read-modify-write" can be held between the reading and the writing.
 */
static ssize_t merge(const struct file *file, const char *bytes, size_t size, off_t offset) {
    off_t start = offset / BLOCK * BLOCK, end = (offset + (off_t)size + BLOCK - 1) / BLOCK * BLOCK;
    size_t blocks = (size_t)(end - start), head = (size_t)(offset - start);
    char *merged = calloc(1, blocks);
    if (!merged) abort();
    ssize_t there = pread(file->posix, merged, blocks, start);
    carry_out("read-modify-write");
    ssize_t done = there;
    if (there >= 0) {
        memcpy(merged + head, bytes, size);
        /* No further than the file went, or goes now. */
        size_t keep = (size_t)there > head + size ? (size_t)there : head + size;
        done = write_all(file->posix, merged, keep, start);
        if (done >= 0) done = (size_t)done < head ? 0 : (size_t)done - head > size ? (ssize_t)size : done - (ssize_t)head;
    }
    int error = errno;
    free(merged);
    errno = error;
    return done;
}

ssize_t write_file(const struct file *file, const char *bytes, size_t size, off_t offset, int aligned) {
    if ((file->flags & O_ACCMODE) == O_RDONLY) {
        errno = EBADF;
        return -1;
    }
    if (!aligned) return merge(file, bytes, size, offset);
    int direct = (uintptr_t)bytes % BLOCK == 0;
    return write_all(direct ? file->direct : file->posix, bytes, size, offset);
}
