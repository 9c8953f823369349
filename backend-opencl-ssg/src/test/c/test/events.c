// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

static const char READ[] = "clEnqueueReadSsgFileAMD";
static cl_file_amd file;
static cl_mem buffer;

static void begin(void) {
    file = opened(CL_FILE_READ_WRITE_AMD);
    buffer = buffer_of(CL_MEM_ALLOC_HOST_PTR, 4096);
}

static void end(void) {
    OK(clReleaseMemObject(buffer));
    OK(release_file(file));
}

static cl_event started(void) {
    cl_event event = NULL;
    OK(read_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 0, NULL, &event));
    return event;
}

TEST(an_event_knows_its_command_and_its_queue) {
    begin();
    cl_event write, read = started();
    cl_command_type type;
    cl_command_queue queue;
    cl_context of;
    OK(write_file(out_of_order, buffer, CL_FALSE, 0, 512, file, 0, 1, &read, &write));
    OK(clGetEventInfo(read, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    SAME(type, CL_COMMAND_READ_SSG_FILE_AMD);
    OK(clGetEventInfo(write, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL));
    SAME(type, CL_COMMAND_WRITE_SSG_FILE_AMD);
    OK(clGetEventInfo(read, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue, NULL));
    CHECK(queue == in_order);
    OK(clGetEventInfo(read, CL_EVENT_CONTEXT, sizeof of, &of, NULL));
    CHECK(of == context);
    SAME(clSetUserEventStatus(read, CL_COMPLETE), CL_INVALID_EVENT);
    OK(ended(read));
    OK(ended(write));
    end();
}

TEST(an_event_goes_through_all_states) {
    begin();
    fake_hold(READ);
    cl_int code;
    cl_event user = clCreateUserEvent(context, &code), event;
    OK(read_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 1, &user, &event));
    SAME(status_of(event), CL_QUEUED);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    SAME(fake_await_held(READ, 1, 10000), 1);
    SAME(status_of(event), CL_RUNNING);
    fake_release(READ);
    OK(ended(event));
    OK(clReleaseEvent(user));
    end();
}

TEST(a_failure_is_the_status_of_the_event_and_not_of_the_call) {
    begin();
    cl_event event;
    fake_fail("late:clEnqueueReadSsgFileAMD", 1, CL_INVALID_OPERATION, 0);
    OK(read_file(in_order, buffer, CL_TRUE, 0, 512, file, 0, 0, NULL, &event));
    SAME(status_of(event), CL_INVALID_OPERATION);
    SAME(clWaitForEvents(1, &event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    OK(clReleaseEvent(event));
    event = started();
    OK(ended(event));
    end();
}

TEST(a_call_fails_when_it_is_told_to) {
    begin();
    fake_fail(READ, 2, CL_OUT_OF_RESOURCES, 0);
    cl_event first = started(), none = NULL;
    SAME(read_file(in_order, buffer, CL_FALSE, 0, 512, file, 0, 0, NULL, &none), CL_OUT_OF_RESOURCES);
    CHECK(!none);
    OK(ended(first));
    OK(ended(started()));
    fake_fail("clCreateSsgFileObjectAMD", 1, CL_INVALID_FILE_OBJECT_AMD, 0);
    cl_int code;
    CHECK(!create_file(context, CL_FILE_READ_ONLY_AMD, fresh_file(), &code));
    SAME(code, CL_INVALID_FILE_OBJECT_AMD);
    fake_fail("clEnqueueFillBuffer", 1, CL_OUT_OF_HOST_MEMORY, 0);
    SAME(clEnqueueFillBuffer(in_order, buffer, "", 1, 0, 512, 0, NULL, NULL), CL_OUT_OF_HOST_MEMORY);
    end();
}

static cl_int told_status[4];
static int told_count;

static void CL_CALLBACK told(cl_event event, cl_int status, void *with) {
    (void)event;
    told_status[(intptr_t)with] = status;
    __atomic_add_fetch(&told_count, 1, __ATOMIC_RELEASE);
}

static void await_told(int count) {
    for (int i = 0; i < 100000 && __atomic_load_n(&told_count, __ATOMIC_ACQUIRE) < count; i++) usleep(100);
    SAME(__atomic_load_n(&told_count, __ATOMIC_ACQUIRE), count);
}

TEST(callbacks_are_called_for_failures_too) {
    begin();
    told_count = 0;
    fake_hold(READ);
    fake_fail("late:clEnqueueReadSsgFileAMD", 2, -5, 0);
    cl_event first = started(), second = started();
    OK(clSetEventCallback(first, CL_COMPLETE, told, (void *)0));
    OK(clSetEventCallback(first, CL_RUNNING, told, (void *)1));
    OK(clSetEventCallback(second, CL_COMPLETE, told, (void *)2));
    SAME(clSetEventCallback(second, CL_QUEUED, told, NULL), CL_INVALID_VALUE);
    await_told(1);
    SAME(told_status[1], CL_RUNNING);
    fake_release(READ);
    await_told(3);
    SAME(told_status[0], CL_COMPLETE);
    SAME(told_status[2], -5);
    OK(clSetEventCallback(second, CL_COMPLETE, told, (void *)3));
    await_told(4);
    SAME(told_status[3], -5);
    OK(ended(first));
    SAME(ended(second), -5);
    end();
}

TEST(events_are_counted_and_outlive_neither_release_nor_command) {
    begin();
    fake_hold(READ);
    cl_event event = started();
    SAME(fake_live("events"), 1);
    OK(clRetainEvent(event));
    SAME(fake_references(event), 2);
    OK(clReleaseEvent(event));
    SAME(fake_references(buffer), 1);
    OK(clReleaseEvent(event));
    SAME(fake_live("events"), 0);
    SAME(clReleaseEvent(event), CL_INVALID_EVENT);
    complained("holds no such object");
    fake_release(READ);
    OK(clFinish(in_order));
    OK(clEnqueueFillBuffer(in_order, buffer, "", 1, 0, 512, 0, NULL, &event));
    SAME(fake_live("events"), 1);
    OK(ended(event));
    end();
}

TEST(times_are_those_of_a_queue_that_takes_them) {
    begin();
    cl_queue_properties profiled[] = {CL_QUEUE_PROPERTIES, CL_QUEUE_PROFILING_ENABLE, 0};
    cl_ulong from = 0, to = 0;
    cl_int code;
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, profiled, &code);
    cl_event event = started();
    OK(clWaitForEvents(1, &event));
    SAME(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_START, sizeof from, &from, NULL),
         CL_PROFILING_INFO_NOT_AVAILABLE);
    OK(clReleaseEvent(event));
    OK(read_file(queue, buffer, CL_TRUE, 0, 512, file, 0, 0, NULL, &event));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_QUEUED, sizeof from, &from, NULL));
    OK(clGetEventProfilingInfo(event, CL_PROFILING_COMMAND_END, sizeof to, &to, NULL));
    CHECK(from && from < to);
    OK(clReleaseEvent(event));
    OK(clReleaseCommandQueue(queue));
    end();
}

/* The runtime retains the buffer but not the file object; we let go of neither before the command has ended. */
TEST(what_a_command_uses_is_not_to_be_let_go) {
    begin();
    fake_hold(READ);
    cl_event event = started();
    SAME(fake_await_held(READ, 1, 10000), 1);
    OK(release_file(file));
    complained("one of the files is let go while a command uses it");
    OK(clReleaseMemObject(buffer));
    complained("one of the buffers is let go while a command uses it");
    fake_release(READ);
    OK(ended(event));
}

TEST(a_reset_ends_what_waits_for_ever) {
    begin();
    cl_int code;
    cl_event user = clCreateUserEvent(context, &code), event;
    OK(read_file(out_of_order, buffer, CL_FALSE, 0, 512, file, 0, 1, &user, &event));
    fake_reset();
    CHECK(ended(event) < 0);
    SAME(fake_live("events"), 0);
    OK(clReleaseEvent(user));
    end();
}
