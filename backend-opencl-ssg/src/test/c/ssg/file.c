// SPDX-License-Identifier: Apache-2.0
/* File objects: the manual, 3.1 to 3.4. What is behind them is any file. */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "ssg.h"

enum { NAME_BYTES = 4096, GARBAGE = 0xA5 };

static void file_ends(struct object *object) {
    close(((struct file *)object)->descriptor);
}

/* Wide characters of 32 bits as UTF-8; false for what is not a character. */
static int encode(const wchar_t *name, char *to, size_t room) {
    for (; *name; name++) {
        uint32_t c = (uint32_t)*name;
        if (c > 0x10FFFF || (c >= 0xD800 && c <= 0xDFFF) || room < 5) return 0;
        int more = c < 0x80 ? 0 : c < 0x800 ? 1 : c < 0x10000 ? 2 : 3;
        static const unsigned char lead[] = {0, 0xC0, 0xE0, 0xF0};
        *to++ = (char)(lead[more] | c >> (6 * more));
        for (int left = more; left--;) *to++ = (char)(0x80 | (c >> (6 * left) & 0x3F));
        room -= (size_t)more + 1;
    }
    *to = 0;
    return 1;
}

static int open_as(const char *name, cl_file_flags_amd flags) {
    int mode = flags == CL_FILE_WRITE_ONLY_AMD ? O_WRONLY : flags == CL_FILE_READ_WRITE_AMD ? O_RDWR : O_RDONLY;
    if (flags == CL_FILE_READ_WRITE_AMD && !property("read_write", 0)) return -1;
    int descriptor = open(name, mode | O_CLOEXEC);
    struct stat about;
    if (descriptor >= 0 && (fstat(descriptor, &about) || !S_ISREG(about.st_mode))) {
        close(descriptor);
        return -1;
    }
    /* The manual, 3.1: "read/write privileges are required", whatever it is opened for. By its mode: a test may be root. */
    if (descriptor >= 0 && (!(about.st_mode & 0222) || !(about.st_mode & 0444))) {
        close(descriptor);
        errno = EACCES;
        return -1;
    }
    return descriptor;
}

static uint64_t size_of(const struct file *file) {
    struct stat about;
    if (!property("growth_seen", 0) || fstat(file->descriptor, &about)) return file->size;
    return (uint64_t)about.st_size;
}

static cl_file_amd file_born(int descriptor, cl_file_flags_amd flags) {
    static uintptr_t numbers = 0x5500000; /* handles that never come again */
    struct stat about;
    fstat(descriptor, &about);
    LOCK();
    void *handle = (void *)(numbers += 16);
    struct file *file = object_new(FILES, handle, sizeof *file);
    file->object.end = file_ends;
    file->descriptor = descriptor;
    file->reads = flags == CL_FILE_READ_ONLY_AMD || flags == CL_FILE_READ_WRITE_AMD;
    file->writes = flags == CL_FILE_WRITE_ONLY_AMD || flags == CL_FILE_READ_WRITE_AMD;
    file->block = (cl_uint)property("block_size", 512);
    file->size = (uint64_t)about.st_size;
    UNLOCK();
    return handle;
}

static cl_int cannot(cl_context context, const wchar_t *name, char *encoded) {
    LOCK();
    int known = object_get(CONTEXTS, context) != NULL;
    UNLOCK();
    const char *function = "clCreateSsgFileObjectAMD";
    if (!known) return refuse(function, CL_INVALID_CONTEXT, "no such context");
    if (!property("ssg_device", 1)) return refuse(function, CL_INVALID_DEVICE, "no device of the context is an SSG");
    if (!name) return refuse(function, CL_INVALID_VALUE, "no name");
    /* The manual, 3.1: "In Linux: the UTF-8-encoded name", of a const wchar_t*. */
    if (property("names_utf8", 0)) {
        const char *bytes = (const char *)name;
        if (strlen(bytes) >= NAME_BYTES) return refuse(function, CL_INVALID_VALUE, "the name is too long");
        strcpy(encoded, bytes);
        return CL_SUCCESS;
    }
    if (!encode(name, encoded, NAME_BYTES)) return refuse(function, CL_INVALID_VALUE, "the name has no wide characters");
    return CL_SUCCESS;
}

cl_file_amd clCreateSsgFileObjectAMD(
        cl_context context, cl_file_flags_amd flags, const wchar_t *file_name, cl_int *errcode_ret) {
    struct answer ordered;
    char name[NAME_BYTES];
    cl_file_amd made = NULL;
    cl_int code = called(__func__, &ordered) ? (cl_int)ordered.code : cannot(context, file_name, name);
    if (!code) {
        int descriptor = open_as(name, flags);
        if (descriptor >= 0) {
            made = file_born(descriptor, flags);
        } else {
            code = property("manual_codes", 0) ? CL_INVALID_FILE_OBJECT_AMD : CL_INVALID_VALUE;
            refuse(__func__, code, "%s with flags %u: %s", name, flags, strerror(errno));
        }
    }
    if (errcode_ret) *errcode_ret = code;
    return made;
}

cl_int clGetSsgFileObjectInfoAMD(cl_file_amd handle, cl_file_info_amd what, size_t room, void *to, size_t *needed) {
    ORDERED();
    LOCK();
    struct file *file = object_get(FILES, handle);
    cl_uint block = file ? file->block : 0;
    cl_ulong size = file ? file->size : 0;
    UNLOCK();
    if (!file) return refuse(__func__, CL_INVALID_FILE_OBJECT_AMD, "no such file object");
    cl_int result = CL_INVALID_VALUE;
    if (what == CL_FILE_BLOCK_SIZE_AMD) result = give(&block, sizeof block, room, to, needed);
    if (what == CL_FILE_SIZE_AMD) result = give(&size, sizeof size, room, to, needed);
    return result ? refuse(__func__, result, "question 0x%x with room for %zu bytes", what, room) : result;
}

cl_int clRetainSsgFileObjectAMD(cl_file_amd file) {
    ORDERED();
    if (!object_retain(FILES, file, __func__)) return CL_SUCCESS;
    return refuse(__func__, CL_INVALID_FILE_OBJECT_AMD, "no such file object");
}

cl_int clReleaseSsgFileObjectAMD(cl_file_amd file) {
    ORDERED();
    if (!object_release(FILES, file, __func__)) return CL_SUCCESS;
    return refuse(__func__, CL_INVALID_FILE_OBJECT_AMD, "no such file object");
}

/* The manual, 3.5: the end of a file that is no multiple of the block is read with the next multiple beyond it. */
static int beyond(const struct file *file, uint64_t size, uint64_t offset, uint64_t length) {
    uint64_t end = (length + file->block - 1) / file->block * file->block;
    return offset > end || size > end - offset;
}

cl_int file_read(const struct file *file, char *to, size_t size, uint64_t offset) {
    const char *function = "clEnqueueReadSsgFileAMD";
    if (!file->reads) return refuse(function, CL_INVALID_OPERATION, "the file object is not for reading");
    if (beyond(file, size, offset, size_of(file)))
        return refuse(function, CL_INVALID_OPERATION, "%zu bytes at %llu end behind the last block", size,
                      (unsigned long long)offset);
    size_t done = 0;
    while (done < size) {
        ssize_t count = pread(file->descriptor, to + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count < 0) return refuse(function, CL_INVALID_OPERATION, "%s", strerror(errno));
        if (!count) break;
        done += (size_t)count;
    }
    /* The rest of the last block, behind the end of the file, is undefined. */
    memset(to + done, GARBAGE, size - done);
    return CL_SUCCESS;
}

cl_int file_write(const struct file *file, const char *from, size_t size, uint64_t offset) {
    const char *function = "clEnqueueWriteSsgFileAMD";
    if (!file->writes) return refuse(function, CL_INVALID_OPERATION, "the file object is not for writing");
    if (!property("grows", 0)) {
        uint64_t length = size_of(file);
        if (beyond(file, size, offset, length))
            return refuse(function, CL_INVALID_OPERATION, "%zu bytes at %llu end behind the last block", size,
                          (unsigned long long)offset);
        if (offset + size > length) size = length > offset ? (size_t)(length - offset) : 0;
    }
    for (size_t done = 0; done < size;) {
        ssize_t count = pwrite(file->descriptor, from + done, size - done, (off_t)(offset + done));
        if (count < 0 && errno == EINTR) continue;
        if (count <= 0) return refuse(function, CL_INVALID_OPERATION, "%s", strerror(errno));
        done += (size_t)count;
    }
    return CL_SUCCESS;
}
