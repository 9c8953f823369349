// SPDX-License-Identifier: Apache-2.0
/*
 * A test of the fake: an application in C that knows the manual. Each test gets a context and two queues of a freshly
 * reset and armed fake, and must leave nothing behind.
 */
#ifndef PENSTOCK_CHECK_H
#define PENSTOCK_CHECK_H

#define CL_TARGET_OPENCL_VERSION 300
#include <CL/cl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../ssg/amd.h"
#include "control.h"

long fake_refusals(void);
const char *fake_refusal(long number);
long fake_references(const void *handle);

struct test {
    const char *name;
    void (*run)(void);
    struct test *next;
};
void test_add(struct test *test);
#define TEST(name)                                                                 \
    static void name(void);                                                        \
    __attribute__((constructor)) static void add_##name(void) {                    \
        static struct test test = {#name, name, NULL};                             \
        test_add(&test);                                                           \
    }                                                                              \
    static void name(void)

#define CHECK(condition)                                                           \
    do {                                                                           \
        if (!(condition)) failed(__FILE__, __LINE__, #condition);                  \
    } while (0)
#define SAME(actual, expected)                                                     \
    do {                                                                           \
        long a_ = (long)(actual), e_ = (long)(expected);                           \
        if (a_ != e_) differs(__FILE__, __LINE__, #actual, a_, e_);                \
    } while (0)
#define OK(call) SAME(call, CL_SUCCESS)
void failed(const char *file, int line, const char *what);
void differs(const char *file, int line, const char *what, long actual, long expected);
/* The fake has complained of this, and forgets it. */
void complained(const char *part);
/* The last refusal says this. */
void refused(const char *part);

/* What each test has. */
extern cl_platform_id platform;
extern cl_device_id device;
extern cl_context context;
extern cl_command_queue in_order, out_of_order;

/* The extension's functions, as the application finds them. */
extern cl_file_amd (*create_file)(cl_context, cl_file_flags_amd, const wchar_t *, cl_int *);
extern cl_int (*file_info)(cl_file_amd, cl_file_info_amd, size_t, void *, size_t *);
extern cl_int (*retain_file)(cl_file_amd);
extern cl_int (*release_file)(cl_file_amd);
typedef cl_int (*transfer_fn)(cl_command_queue, cl_mem, cl_bool, size_t, size_t, cl_file_amd, size_t, cl_uint,
                              const cl_event *, cl_event *);
extern transfer_fn read_file, write_file;

enum { FILE_BYTES = 100 * 1000, ROUNDED = 196 * 512 };
/* A file of FILE_BYTES in the test's folder, each byte as byte_at says. */
const wchar_t *fresh_file(void);
unsigned char byte_at(size_t offset);
long file_length(void);
int file_byte(long offset);
const char *in_folder(const char *name);
cl_file_amd opened(cl_file_flags_amd flags);
cl_mem buffer_of(cl_mem_flags flags, size_t size);
cl_mem host_buffer(void *memory, size_t size);
void bytes_of(cl_mem buffer, size_t offset, size_t size, unsigned char *to);
/* The bytes of a buffer from offset on are those of the file from file_offset on. */
void holds_file(cl_mem buffer, size_t offset, size_t size, size_t file_offset);
cl_int status_of(cl_event event);
/* Waits for an event, gives it back, and answers its last status. */
cl_int ended(cl_event event);

#endif
