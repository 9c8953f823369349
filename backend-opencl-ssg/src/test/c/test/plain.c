// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

static const char WRITE[] = "clEnqueueWriteBuffer";

TEST(a_command_of_any_opencl_starts_when_it_is_released) {
    cl_mem buffer = buffer_of(0, 4096);
    unsigned char byte = 5, seen = 0;
    cl_int code;
    cl_event user = clCreateUserEvent(context, &code), event;
    OK(clEnqueueFillBuffer(in_order, buffer, "", 1, 0, 4096, 0, NULL, NULL));
    fake_hold(WRITE);
    OK(clEnqueueWriteBuffer(out_of_order, buffer, CL_FALSE, 0, 1, &byte, 1, &user, &event));
    OK(clFlush(out_of_order));
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    SAME(fake_await_held(WRITE, 1, 10000), 1);
    usleep(10000);
    CHECK(status_of(event) > CL_COMPLETE);
    bytes_of(buffer, 0, 1, &seen);
    SAME(seen, 0);
    fake_release(WRITE);
    OK(ended(event));
    bytes_of(buffer, 0, 1, &seen);
    SAME(seen, 5);
    fake_delay("clEnqueueReadBuffer", 1000);
    bytes_of(buffer, 0, 1, &seen);
    SAME(clEnqueueWriteBuffer(out_of_order, buffer, CL_FALSE, 0, 1, &byte, 1, NULL, NULL), CL_INVALID_EVENT_WAIT_LIST);
    OK(clReleaseEvent(user));
    OK(clReleaseMemObject(buffer));
}

static int told;

static void CL_CALLBACK tell(cl_event event, cl_int status, void *with) {
    (void)event;
    (void)with;
    __atomic_store_n(&told, status, __ATOMIC_RELEASE);
}

TEST(a_command_of_any_opencl_fails_after_it_was_accepted) {
    cl_mem buffer = buffer_of(0, 4096);
    unsigned char byte = 5;
    cl_event event, other;
    cl_command_type type;
    fake_fail("late:clEnqueueWriteBuffer", 1, CL_OUT_OF_RESOURCES, 0);
    fake_hold(WRITE);
    OK(clEnqueueWriteBuffer(in_order, buffer, CL_FALSE, 0, 1, &byte, 0, NULL, &event));
    fake_release(WRITE);
    OK(clGetEventInfo(event, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    SAME(type, CL_COMMAND_WRITE_BUFFER);
    told = 99;
    OK(clSetEventCallback(event, CL_COMPLETE, tell, NULL));
    SAME(ended(event), CL_OUT_OF_RESOURCES);
    for (int i = 0; i < 100000 && __atomic_load_n(&told, __ATOMIC_ACQUIRE) == 99; i++) usleep(100);
    SAME(told, CL_OUT_OF_RESOURCES);
    OK(clEnqueueWriteBuffer(in_order, buffer, CL_FALSE, 0, 1, &byte, 0, NULL, &other));
    OK(ended(other));
    OK(clReleaseMemObject(buffer));
}

TEST(what_the_application_has_mapped_is_not_for_commands) {
    cl_file_amd file = opened(CL_FILE_READ_WRITE_AMD);
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, 8192);
    cl_int code;
    void *at = clEnqueueMapBuffer(in_order, buffer, CL_TRUE, CL_MAP_READ, 512, 512, 0, NULL, NULL, &code);
    OK(code);
    OK(write_file(in_order, buffer, CL_TRUE, 512, 512, file, 0, 0, NULL, NULL));
    OK(read_file(in_order, buffer, CL_TRUE, 1024, 512, file, 0, 0, NULL, NULL));
    OK(read_file(in_order, buffer, CL_TRUE, 0, 512, file, 0, 0, NULL, NULL));
    CHECK(!fake_complaint());
    OK(read_file(in_order, buffer, CL_TRUE, 512, 512, file, 0, 0, NULL, NULL));
    complained("has mapped what the command is to use");
    OK(clEnqueueUnmapMemObject(in_order, buffer, at, 0, NULL, NULL));
    OK(read_file(in_order, buffer, CL_TRUE, 512, 512, file, 0, 0, NULL, NULL));
    cl_buffer_region region = {4096, 4096};
    cl_mem part = clCreateSubBuffer(buffer, 0, CL_BUFFER_CREATE_TYPE_REGION, &region, &code);
    at = clEnqueueMapBuffer(in_order, part, CL_TRUE, CL_MAP_WRITE, 0, 512, 0, NULL, NULL, &code);
    OK(write_file(in_order, buffer, CL_TRUE, 4096, 512, file, 0, 0, NULL, NULL));
    complained("has mapped");
    OK(clEnqueueUnmapMemObject(in_order, part, at, 0, NULL, NULL));
    OK(clFinish(in_order));
    OK(clReleaseMemObject(part));
    OK(clReleaseMemObject(buffer));
    OK(release_file(file));
}

/* An OpenCL may know mappings by their address only. */
TEST(a_transfer_leaves_the_mappings_of_the_application_alone) {
    cl_file_amd file = opened(CL_FILE_READ_WRITE_AMD);
    fake_set("armed", 0);
    cl_mem buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, 4096);
    fake_set("armed", 1);
    cl_int code;
    cl_event events[8];
    unsigned char *at = clEnqueueMapBuffer(in_order, buffer, CL_TRUE, CL_MAP_WRITE, 0, 512, 0, NULL, NULL, &code);
    OK(code);
    at[0] = byte_at(0) ^ 1;
    for (size_t i = 0; i < 8; i++)
        OK(write_file(out_of_order, buffer, CL_FALSE, 512, 1024, file, i * 1024, 0, NULL, &events[i]));
    for (int i = 0; i < 8; i++) OK(ended(events[i]));
    SAME(at[0], byte_at(0) ^ 1);
    OK(clEnqueueUnmapMemObject(in_order, buffer, at, 0, NULL, NULL));
    OK(read_file(in_order, buffer, CL_TRUE, 512, 1024, file, 16384, 0, NULL, NULL));
    holds_file(buffer, 512, 1024, 16384);
    OK(clReleaseMemObject(buffer));
    OK(release_file(file));
}
