// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "check.h"

#include <unistd.h>

static const char READ[] = "clEnqueueReadSsgFileAMD";

struct bench {
    cl_file_amd file;
    cl_mem buffer;
};

static struct bench bench(void) {
    struct bench made = {opened(CL_FILE_READ_WRITE_AMD), buffer_of(CL_MEM_ALLOC_HOST_PTR, 1 << 16)};
    return made;
}

static void put_away(struct bench bench) {
    OK(clReleaseMemObject(bench.buffer));
    OK(release_file(bench.file));
}

static cl_event read_at(struct bench bench, cl_command_queue queue, size_t offset, cl_event after) {
    cl_event event = NULL;
    OK(read_file(queue, bench.buffer, CL_FALSE, offset, 512, bench.file, offset, after ? 1 : 0, after ? &after : NULL,
                 &event));
    return event;
}

TEST(a_command_waits_for_its_list) {
    struct bench b = bench();
    cl_int code;
    cl_event user = clCreateUserEvent(context, &code);
    cl_event event = read_at(b, in_order, 0, user);
    usleep(20000);
    SAME(fake_calls(READ), 1);
    CHECK(status_of(event) > CL_RUNNING);
    OK(clSetUserEventStatus(user, CL_COMPLETE));
    OK(ended(event));
    holds_file(b.buffer, 0, 512, 0);
    OK(clReleaseEvent(user));
    put_away(b);
}

TEST(a_command_behind_a_failed_event_fails_and_moves_nothing) {
    struct bench b = bench();
    cl_int code;
    unsigned char byte;
    OK(clEnqueueFillBuffer(in_order, b.buffer, "", 1, 0, 1 << 16, 0, NULL, NULL));
    cl_event user = clCreateUserEvent(context, &code);
    cl_event event = read_at(b, in_order, 0, user);
    cl_event behind = read_at(b, out_of_order, 512, event);
    OK(clSetUserEventStatus(user, -5));
    SAME(ended(event), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    SAME(ended(behind), CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST);
    bytes_of(b.buffer, 0, 1, &byte);
    SAME(byte, 0);
    OK(clReleaseEvent(user));
    put_away(b);
}

TEST(commands_of_an_in_order_queue_follow_each_other_whatever_comes_of_them) {
    struct bench b = bench();
    unsigned char byte = 0x11;
    fake_hold(READ);
    fake_fail("late:clEnqueueReadSsgFileAMD", 2, -5, 0);
    cl_event fill, first = read_at(b, in_order, 0, NULL), second = read_at(b, in_order, 512, NULL);
    OK(clEnqueueFillBuffer(in_order, b.buffer, &byte, 1, 0, 1, 0, NULL, &fill));
    OK(clFlush(in_order));
    SAME(fake_await_held(READ, 1, 10000), 1);
    usleep(20000);
    SAME(fake_held(READ), 1);
    CHECK(status_of(second) > CL_RUNNING);
    CHECK(status_of(fill) > CL_COMPLETE);
    fake_release(READ);
    OK(clFinish(in_order));
    SAME(status_of(fill), CL_COMPLETE);
    SAME(ended(first), CL_COMPLETE);
    SAME(ended(second), -5);
    OK(clReleaseEvent(fill));
    holds_file(b.buffer, 1, 511, 1);
    bytes_of(b.buffer, 0, 1, &byte);
    SAME(byte, 0x11);
    put_away(b);
}

TEST(commands_of_an_out_of_order_queue_overtake_each_other_but_no_barrier) {
    struct bench b = bench();
    fake_hold(READ);
    cl_event first = read_at(b, out_of_order, 0, NULL), second = read_at(b, out_of_order, 512, NULL);
    SAME(fake_await_held(READ, 2, 10000), 2);
    cl_event write;
    OK(write_file(out_of_order, b.buffer, CL_FALSE, 1024, 512, b.file, 1024, 0, NULL, &write));
    OK(ended(write));
    OK(clEnqueueBarrierWithWaitList(out_of_order, 0, NULL, NULL));
    OK(write_file(out_of_order, b.buffer, CL_FALSE, 1024, 512, b.file, 1024, 0, NULL, &write));
    usleep(20000);
    CHECK(status_of(write) > CL_RUNNING);
    SAME(status_of(first), CL_RUNNING);
    fake_release(READ);
    OK(ended(first));
    OK(ended(second));
    OK(ended(write));
    put_away(b);
}

TEST(a_marker_and_a_finish_wait_for_all_that_stands_before_them) {
    struct bench b = bench();
    fake_hold(READ);
    cl_event marker, first = read_at(b, out_of_order, 0, NULL), second = read_at(b, out_of_order, 512, NULL);
    OK(clEnqueueMarkerWithWaitList(out_of_order, 0, NULL, &marker));
    cl_event third = read_at(b, out_of_order, 1024, NULL);
    SAME(fake_await_held(READ, 3, 10000), 3);
    usleep(10000);
    CHECK(status_of(marker) > CL_COMPLETE);
    fake_release(READ);
    OK(clFinish(out_of_order));
    SAME(status_of(first), CL_COMPLETE);
    SAME(status_of(second), CL_COMPLETE);
    SAME(status_of(third), CL_COMPLETE);
    OK(ended(first));
    OK(ended(second));
    OK(ended(third));
    OK(ended(marker));
    put_away(b);
}

TEST(other_commands_wait_for_a_transfer_by_its_event) {
    struct bench b = bench();
    unsigned char pattern = 0x22, byte;
    fake_hold(READ);
    cl_event fill, event = read_at(b, in_order, 0, NULL);
    OK(clEnqueueFillBuffer(out_of_order, b.buffer, &pattern, 1, 0, 1, 1, &event, &fill));
    OK(clFlush(out_of_order));
    SAME(fake_await_held(READ, 1, 10000), 1);
    usleep(10000);
    CHECK(status_of(fill) > CL_COMPLETE);
    fake_release(READ);
    OK(ended(fill));
    OK(ended(event));
    bytes_of(b.buffer, 0, 1, &byte);
    SAME(byte, 0x22);
    put_away(b);
}

static int overtakings(long seed) {
    enum { READS = 16 };
    struct bench b = bench();
    cl_event events[READS];
    fake_set("seed", seed);
    fake_set("jitter", 20000);
    cl_ulong ends[READS];
    cl_int code;
    cl_queue_properties profiled[] = {
            CL_QUEUE_PROPERTIES, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE | CL_QUEUE_PROFILING_ENABLE, 0};
    cl_command_queue queue = clCreateCommandQueueWithProperties(context, device, profiled, &code);
    OK(code);
    for (size_t i = 0; i < READS; i++) events[i] = read_at(b, queue, i * 512, NULL);
    OK(clFinish(queue));
    int count = 0;
    for (int i = 0; i < READS; i++) {
        OK(clGetEventProfilingInfo(events[i], CL_PROFILING_COMMAND_END, sizeof *ends, &ends[i], NULL));
        if (i && ends[i] < ends[i - 1]) count++;
        OK(ended(events[i]));
    }
    OK(clReleaseCommandQueue(queue));
    put_away(b);
    return count;
}

TEST(a_seed_mixes_the_order_in_which_transfers_end) {
    CHECK(overtakings(7) > 2);
    CHECK(overtakings(8) > 2);
}

TEST(a_delay_is_that_of_each_transfer_and_not_of_all_together) {
    enum { READS = 32 };
    struct bench b = bench();
    cl_event events[READS];
    fake_delay(READ, 100000);
    for (size_t i = 0; i < READS; i++) events[i] = read_at(b, out_of_order, i * 512, NULL);
    OK(clWaitForEvents(READS, events));
    for (size_t i = 0; i < READS; i++) OK(ended(events[i]));
    holds_file(b.buffer, 0, READS * 512, 0);
    put_away(b);
}
