// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

static cl_file_amd file;
static cl_mem buffer;

static void begin(void) {
    fake_set("flush", 1);
    file = opened(CL_FILE_READ_ONLY_AMD);
    buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, 4096);
}

static void end(void) {
    OK(clReleaseMemObject(buffer));
    OK(release_file(file));
}

static cl_event read_started(cl_command_queue queue) {
    cl_event event = NULL;
    OK(read_file(queue, buffer, CL_FALSE, 0, 512, file, 0, 0, NULL, &event));
    return event;
}

static cl_event fill_started(cl_command_queue queue) {
    cl_event event = NULL;
    OK(clEnqueueFillBuffer(queue, buffer, "", 1, 0, 512, 0, NULL, &event));
    return event;
}

static void await(cl_event event) {
    for (int i = 0; i < 100000 && status_of(event) > CL_COMPLETE; i++) usleep(100);
    OK(status_of(event));
    OK(clReleaseEvent(event));
}

static void starts_with_a_flush(cl_event (*started)(cl_command_queue)) {
    begin();
    cl_event event = started(out_of_order), other = started(in_order);
    usleep(20000);
    CHECK(status_of(event) > CL_RUNNING);
    OK(clFlush(out_of_order));
    await(event);
    CHECK(status_of(other) > CL_RUNNING);
    OK(clFlush(in_order));
    await(other);
    end();
}

TEST(a_transfer_starts_when_its_queue_is_flushed) {
    starts_with_a_flush(read_started);
}

TEST(and_so_does_any_other_command) {
    starts_with_a_flush(fill_started);
}

TEST(a_finish_a_blocking_call_and_a_wait_are_flushes_too) {
    begin();
    cl_event event = read_started(out_of_order);
    OK(clFinish(out_of_order));
    OK(status_of(event));
    OK(clReleaseEvent(event));
    event = fill_started(in_order);
    unsigned char byte;
    bytes_of(buffer, 0, 1, &byte);
    OK(status_of(event));
    OK(clReleaseEvent(event));
    event = read_started(in_order);
    OK(clWaitForEvents(1, &event));
    OK(clReleaseEvent(event));
    event = fill_started(out_of_order);
    OK(clWaitForEvents(1, &event));
    OK(clReleaseEvent(event));
    end();
}

TEST(the_release_of_a_queue_is_a_flush) {
    begin();
    cl_int code;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, NULL, &code);
    cl_event event = read_started(queue);
    OK(clReleaseCommandQueue(queue));
    await(event);
    end();
}

TEST(a_wait_for_a_command_that_is_not_flushed_is_one_for_ever) {
    begin();
    cl_event read = read_started(out_of_order), fill;
    OK(clEnqueueFillBuffer(in_order, buffer, "", 1, 0, 512, 1, &read, &fill));
    OK(clFlush(in_order));
    usleep(20000);
    CHECK(status_of(fill) > CL_COMPLETE);
    OK(clFlush(out_of_order));
    await(read);
    await(fill);
    end();
}
