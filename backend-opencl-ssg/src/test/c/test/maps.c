// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

#include <stdlib.h>
#include <string.h>

enum { SIZE = 8192 };

static unsigned char *map(cl_mem buffer, cl_map_flags flags, size_t offset, size_t size) {
    cl_int code = 1;
    unsigned char *at =
            clEnqueueMapBuffer(in_order, buffer, CL_TRUE, flags, offset, size, 0, NULL, NULL, &code);
    OK(code);
    return at;
}

static void unmap(cl_mem buffer, void *at) {
    OK(clEnqueueUnmapMemObject(in_order, buffer, at, 0, NULL, NULL));
    OK(clFinish(in_order));
}

static void fill(cl_mem buffer, unsigned char with) {
    OK(clEnqueueFillBuffer(in_order, buffer, &with, 1, 0, SIZE, 0, NULL, NULL));
    OK(clFinish(in_order));
}

static void device_has(cl_mem buffer, size_t offset, int expected) {
    unsigned char byte;
    bytes_of(buffer, offset, 1, &byte);
    SAME(byte, expected);
}

TEST(the_host_sees_what_the_device_had_at_the_map_and_the_device_what_the_host_had_at_the_unmap) {
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, SIZE);
    fill(buffer, 1);
    unsigned char *at = map(buffer, CL_MAP_READ | CL_MAP_WRITE, 512, 512);
    SAME(at[0], 1);
    fill(buffer, 2);
    SAME(at[0], 1);
    at[1] = 3;
    device_has(buffer, 513, 2);
    unmap(buffer, at);
    device_has(buffer, 511, 2);
    device_has(buffer, 512, 1);
    device_has(buffer, 513, 3);
    device_has(buffer, 1024, 2);
    OK(clReleaseMemObject(buffer));
}

TEST(what_is_written_without_a_map_or_behind_an_unmap_is_not_seen) {
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, SIZE);
    fill(buffer, 1);
    unsigned char *at = map(buffer, CL_MAP_WRITE, 0, SIZE);
    at[0] = 4;
    unmap(buffer, at);
    CHECK(at[0] != 4);
    at[1] = 5;
    device_has(buffer, 0, 4);
    device_has(buffer, 1, 1);
    at = map(buffer, CL_MAP_READ, 0, SIZE);
    SAME(at[1], 1);
    at[2] = 6;
    unmap(buffer, at);
    device_has(buffer, 2, 1);
    OK(clReleaseMemObject(buffer));
}

TEST(memory_of_the_applications_is_the_devices_only_while_it_is_unmapped) {
    unsigned char *memory = aligned_alloc(4096, SIZE);
    memset(memory, 7, SIZE);
    cl_mem buffer = host_buffer(memory, SIZE);
    void *told = NULL;
    OK(clGetMemObjectInfo(buffer, CL_MEM_HOST_PTR, sizeof told, &told, NULL));
    CHECK(told == memory);
    device_has(buffer, 0, 7);
    memory[0] = 8;
    device_has(buffer, 0, 7);
    unsigned char *at = map(buffer, CL_MAP_READ | CL_MAP_WRITE, 512, 512);
    CHECK(at == memory + 512);
    at[0] = 9;
    unmap(buffer, at);
    device_has(buffer, 512, 9);
    OK(clReleaseMemObject(buffer));
    free(memory);
}

TEST(what_is_invalidated_is_spoilt) {
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, SIZE);
    fill(buffer, 1);
    unsigned char *at = map(buffer, CL_MAP_WRITE_INVALIDATE_REGION, 0, 512);
    CHECK(at[0] != 1);
    at[0] = 2;
    unmap(buffer, at);
    device_has(buffer, 0, 2);
    unsigned char byte;
    bytes_of(buffer, 1, 1, &byte);
    CHECK(byte != 1);
    device_has(buffer, 512, 1);
    OK(clReleaseMemObject(buffer));
}

TEST(maps_stand_in_the_order_of_their_queue) {
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, SIZE);
    cl_int code;
    cl_event mapped, unmapped, user = clCreateUserEvent(context, &code);
    unsigned char with = 1;
    OK(clEnqueueFillBuffer(in_order, buffer, &with, 1, 0, SIZE, 1, &user, NULL));
    unsigned char *at = clEnqueueMapBuffer(in_order, buffer, CL_FALSE, CL_MAP_READ | CL_MAP_WRITE, 0, SIZE, 0, NULL, &mapped, &code);
    OK(code);
    CHECK(status_of(mapped) > CL_COMPLETE);
    OK(clEnqueueUnmapMemObject(in_order, buffer, at, 0, NULL, &unmapped));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(ended(mapped));
    OK(ended(unmapped));
    device_has(buffer, 0, 1);
    OK(clReleaseEvent(user));
    OK(clReleaseMemObject(buffer));
}

TEST(a_map_fails_as_the_standard_says) {
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, SIZE), hidden = buffer_of(CL_MEM_HOST_NO_ACCESS, SIZE);
    cl_int code;
    unsigned char *at = map(buffer, CL_MAP_WRITE, 512, 512);
    CHECK(!clEnqueueMapBuffer(in_order, buffer, CL_TRUE, CL_MAP_READ, 1023, 10, 0, NULL, NULL, &code));
    SAME(code, CL_INVALID_OPERATION);
    refused("overlaps another map");
    CHECK(!clEnqueueMapBuffer(in_order, hidden, CL_TRUE, CL_MAP_READ, 0, 10, 0, NULL, NULL, &code));
    SAME(code, CL_INVALID_OPERATION);
    CHECK(!clEnqueueMapBuffer(in_order, buffer, CL_TRUE, CL_MAP_READ, SIZE - 1, 2, 0, NULL, NULL, &code));
    SAME(code, CL_INVALID_VALUE);
    SAME(clEnqueueUnmapMemObject(in_order, buffer, at + 1, 0, NULL, NULL), CL_INVALID_VALUE);
    refused("not where the buffer is mapped");
    unmap(buffer, at);
    SAME(clEnqueueUnmapMemObject(in_order, buffer, at, 0, NULL, NULL), CL_INVALID_VALUE);
    fake_fail("late:clEnqueueMapBuffer", 1, -5, 0);
    cl_event event;
    CHECK(clEnqueueMapBuffer(in_order, buffer, CL_FALSE, CL_MAP_WRITE, 0, 10, 0, NULL, &event, &code));
    OK(code);
    SAME(ended(event), -5);
    unmap(buffer, map(buffer, CL_MAP_WRITE, 0, 10));
    OK(clReleaseMemObject(buffer));
    OK(clReleaseMemObject(hidden));
}
