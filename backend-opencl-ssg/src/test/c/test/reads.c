// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

#include <sys/mman.h>

static void reads(cl_command_queue queue, cl_mem buffer) {
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_event event;
    OK(read_file(queue, buffer, CL_FALSE, 1024, 51200, file, 2048, 0, NULL, &event));
    OK(ended(event));
    holds_file(buffer, 1024, 51200, 2048);
    OK(release_file(file));
    OK(clReleaseMemObject(buffer));
}

TEST(bytes_reach_every_kind_of_buffer_on_both_kinds_of_queue) {
    char *memory = aligned_alloc(4096, 1 << 16);
    for (int i = 0; i < 2; i++) {
        cl_command_queue queue = i ? out_of_order : in_order;
        cl_mem persistent = buffer_of(MEM_PERSISTENT, 1 << 16);
        OK(clEnqueueFillBuffer(in_order, persistent, "", 1, 0, 1 << 16, 0, NULL, NULL));
        OK(clFinish(in_order));
        reads(queue, persistent);
        reads(queue, buffer_of(CL_MEM_ALLOC_HOST_PTR, 1 << 16));
        reads(queue, host_buffer(memory, 1 << 16));
        reads(queue, buffer_of(CL_MEM_READ_WRITE, 1 << 16));
    }
    free(memory);
}

TEST(buffers_that_were_made_unarmed_are_reached_too) {
    for (int i = 0; i < 2; i++) {
        fake_set("armed", 0);
        cl_mem plain = buffer_of(i ? CL_MEM_HOST_WRITE_ONLY : CL_MEM_READ_WRITE, 1 << 16);
        fake_set("armed", 1);
        cl_file_amd file = opened(CL_FILE_READ_WRITE_AMD);
        OK(read_file(in_order, plain, CL_TRUE, 0, 1024, file, 2048, 0, NULL, NULL));
        OK(write_file(in_order, plain, CL_TRUE, 512, 512, file, 512, 0, NULL, NULL));
        SAME(file_byte(511), byte_at(511));
        SAME(file_byte(512), byte_at(2048 + 512));
        SAME(file_byte(1023), byte_at(2048 + 1023));
        if (!i) holds_file(plain, 0, 1024, 2048);
        OK(release_file(file));
        OK(clReleaseMemObject(plain));
    }
}

TEST(a_buffer_tells_what_the_application_made_it_of) {
    char bytes[512] = "copied", *memory = aligned_alloc(4096, 4096), seen[8];
    const cl_mem_flags flags[] = {0, CL_MEM_ALLOC_HOST_PTR | CL_MEM_HOST_NO_ACCESS, CL_MEM_READ_ONLY | MEM_PERSISTENT,
                                  CL_MEM_COPY_HOST_PTR, CL_MEM_USE_HOST_PTR};
    /* It is told back as it was given. */
    for (int i = 0; i < 5; i++) {
        cl_int code;
        cl_mem_flags answered = 0;
        void *host = bytes;
        cl_mem buffer = clCreateBuffer(context, flags[i], 512, i == 3 ? bytes : i == 4 ? memory : NULL, &code);
        OK(code);
        OK(clGetMemObjectInfo(buffer, CL_MEM_FLAGS, sizeof answered, &answered, NULL));
        SAME(answered, flags[i]);
        OK(clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof host, &host, NULL));
        CHECK(host == (i == 4 ? memory : NULL));
        if (i == 3) {
            bytes_of(buffer, 0, 7, (unsigned char *)seen);
            CHECK(!strcmp(seen, "copied"));
        }
        OK(clReleaseMemObject(buffer));
    }
    free(memory);
    static const struct {
        cl_mem_flags flags;
        size_t size;
        int host;
        cl_int code;
    } wrong[] = {{0, 0, 0, CL_INVALID_BUFFER_SIZE}, {0, 512, 1, CL_INVALID_HOST_PTR},
                 {CL_MEM_COPY_HOST_PTR, 512, 0, CL_INVALID_HOST_PTR}, {CL_MEM_USE_HOST_PTR, 512, 0, CL_INVALID_HOST_PTR},
                 {CL_MEM_READ_ONLY | CL_MEM_WRITE_ONLY, 512, 0, CL_INVALID_VALUE}};
    for (int i = 0; i < 5; i++) {
        cl_int code = 0;
        CHECK(!clCreateBuffer(context, wrong[i].flags, wrong[i].size, wrong[i].host ? bytes : NULL, &code));
        SAME(code, wrong[i].code);
    }
}

TEST(a_blocking_read_is_over_when_it_returns) {
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, 4096);
    cl_event event;
    OK(read_file(in_order, buffer, CL_TRUE, 0, 4096, file, 0, 0, NULL, &event));
    SAME(status_of(event), CL_COMPLETE);
    OK(clReleaseEvent(event));
    OK(read_file(in_order, buffer, CL_TRUE, 0, 512, file, 4096, 0, NULL, NULL));
    holds_file(buffer, 0, 512, 4096);
    OK(release_file(file));
    OK(clReleaseMemObject(buffer));
}

/* The manual: read the end of the file by aligning the size with the next block beyond it. */
TEST(the_end_of_a_file_is_read_with_the_whole_last_block_whose_rest_is_garbage) {
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, ROUNDED);
    unsigned char last;
    OK(clEnqueueFillBuffer(in_order, buffer, "", 1, 0, ROUNDED, 0, NULL, NULL));
    OK(read_file(in_order, buffer, CL_TRUE, 0, ROUNDED, file, 0, 0, NULL, NULL));
    holds_file(buffer, 0, FILE_BYTES, 0);
    bytes_of(buffer, ROUNDED - 1, 1, &last);
    CHECK(last != 0);
    cl_event event;
    OK(read_file(in_order, buffer, CL_FALSE, 0, 1024, file, ROUNDED - 512, 0, NULL, &event));
    SAME(ended(event), CL_INVALID_OPERATION);
    refused("behind the last block");
    OK(release_file(file));
    OK(clReleaseMemObject(buffer));
}

TEST(what_is_no_multiple_of_the_block_or_beyond_the_buffer_is_invalid) {
    fake_set("block_size", 4096);
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, 16384);
    static const size_t bad[][3] = {{512, 4096, 0}, {0, 512, 0}, {0, 4096, 512}, {0, 0, 0},
                                    {16384, 4096, 0}, {12288, 8192, 0}, {0, 20480, 0}, {(size_t)-4096, 8192, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        cl_event event = NULL;
        SAME(read_file(in_order, buffer, CL_FALSE, bad[i][0], bad[i][1], file, bad[i][2], 0, NULL, &event),
             CL_INVALID_VALUE);
        SAME(write_file(in_order, buffer, CL_TRUE, bad[i][0], bad[i][1], file, bad[i][2], 0, NULL, NULL),
             CL_INVALID_VALUE);
        CHECK(!event);
    }
    SAME(fake_refusals(), 2 * sizeof bad / sizeof *bad);
    OK(release_file(file));
    OK(clReleaseMemObject(buffer));
}

TEST(arguments_are_checked_in_the_order_of_the_runtime) {
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD), none = (cl_file_amd)(uintptr_t)0x40;
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, 4096), hidden = buffer_of(CL_MEM_HOST_NO_ACCESS, 4096);
    cl_mem unwritable = buffer_of(CL_MEM_HOST_READ_ONLY, 4096);
    cl_int code;
    cl_context other = clCreateContext(NULL, 1, &device, NULL, NULL, &code);
    cl_mem foreign = clCreateBuffer(other, CL_MEM_ALLOC_HOST_PTR, 4096, NULL, NULL);
    cl_event user = clCreateUserEvent(context, &code), strange = clCreateUserEvent(other, &code);
    cl_command_queue no_queue = (cl_command_queue)file;
    /* Each has all the faults of those behind it. */
    SAME(read_file(no_queue, (cl_mem)file, CL_FALSE, 1, 1, none, 1, 1, NULL, NULL), CL_INVALID_COMMAND_QUEUE);
    SAME(read_file(in_order, (cl_mem)file, CL_FALSE, 1, 1, none, 1, 1, NULL, NULL), CL_INVALID_MEM_OBJECT);
    SAME(read_file(in_order, NULL, CL_FALSE, 1, 1, none, 1, 1, NULL, NULL), CL_INVALID_MEM_OBJECT);
    SAME(read_file(in_order, hidden, CL_FALSE, 1, 1, none, 1, 1, NULL, NULL), CL_INVALID_OPERATION);
    SAME(write_file(in_order, unwritable, CL_FALSE, 1, 1, none, 1, 1, NULL, NULL), CL_INVALID_OPERATION);
    SAME(read_file(in_order, foreign, CL_FALSE, 1, 1, none, 1, 1, NULL, NULL), CL_INVALID_CONTEXT);
    SAME(read_file(in_order, buffer, CL_FALSE, 1, 1, none, 1, 1, NULL, NULL), CL_INVALID_FILE_OBJECT_AMD);
    SAME(read_file(in_order, buffer, CL_FALSE, 1, 1, file, 1, 1, NULL, NULL), CL_INVALID_VALUE);
    SAME(read_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    SAME(read_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 0, &user, NULL), CL_INVALID_EVENT_WAIT_LIST);
    cl_event nothing = (cl_event)file;
    SAME(read_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 1, &nothing, NULL), CL_INVALID_EVENT_WAIT_LIST);
    SAME(read_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 1, &strange, NULL), CL_INVALID_CONTEXT);
    OK(clReleaseEvent(user));
    OK(clReleaseEvent(strange));
    OK(clReleaseMemObject(foreign));
    OK(clReleaseContext(other));
    OK(clReleaseMemObject(hidden));
    OK(clReleaseMemObject(unwritable));
    OK(clReleaseMemObject(buffer));
    OK(release_file(file));
}

TEST(an_image_is_no_buffer) {
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_image_format format = {CL_RGBA, CL_UNORM_INT8};
    cl_image_desc description = {.image_type = CL_MEM_OBJECT_IMAGE2D, .image_width = 64, .image_height = 64};
    cl_int code;
    cl_mem image = clCreateImage(context, CL_MEM_READ_WRITE, &format, &description, NULL, &code);
    OK(code);
    SAME(read_file(in_order, image, CL_FALSE, 0, 512, file, 0, 0, NULL, NULL), CL_INVALID_MEM_OBJECT);
    OK(clReleaseMemObject(image));
    OK(release_file(file));
}

TEST(a_sub_buffer_starts_where_it_starts) {
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, 8192);
    cl_buffer_region region = {4096, 2048};
    cl_int code;
    cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    OK(code);
    OK(read_file(in_order, part, CL_TRUE, 512, 1024, file, 1024, 0, NULL, NULL));
    holds_file(buffer, 4096 + 512, 1024, 1024);
    SAME(read_file(in_order, part, CL_TRUE, 512, 2048, file, 1024, 0, NULL, NULL), CL_INVALID_VALUE);
    OK(clReleaseMemObject(part));
    OK(clReleaseMemObject(buffer));
    OK(release_file(file));
}

TEST(memory_that_the_host_has_unmapped_is_noticed) {
    char *memory = mmap(NULL, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    cl_file_amd file = opened(CL_FILE_READ_ONLY_AMD);
    cl_mem buffer = host_buffer(memory, 8192);
    cl_event event;
    fake_hold("clEnqueueReadSsgFileAMD");
    OK(read_file(in_order, buffer, CL_FALSE, 4096, 4096, file, 0, 0, NULL, &event));
    SAME(fake_await_held("clEnqueueReadSsgFileAMD", 1, 10000), 1);
    munmap(memory + 4096, 4096);
    fake_release("clEnqueueReadSsgFileAMD");
    SAME(ended(event), CL_INVALID_OPERATION);
    complained("the host's memory of a buffer is gone");
    OK(clReleaseMemObject(buffer));
    OK(release_file(file));
    munmap(memory, 4096);
}
