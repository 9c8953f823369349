// SPDX-License-Identifier: Apache-2.0
/*
 * Orders for commands of the library below, which the paths without the extension are made of: to start late, or when they
 * are released, and to fail after they were accepted.
 */
#include <stdlib.h>
#include <string.h>

#include "ssg.h"

struct start {
    const char *function;
    cl_event gate;
};

static void *open_gate(void *of) {
    struct start *start = of;
    carry_out(start->function);
    below.clSetUserEventStatus(start->gate, CL_COMPLETE);
    below.clReleaseEvent(start->gate);
    wake();
    live("operations", -1);
    free(start);
    return NULL;
}

/* The command waits for an event that is set when it may go on. */
static void start_later(struct plain *plain, const char *function, cl_context context) {
    struct start *start = calloc(1, sizeof *start);
    plain->gate = below.clCreateUserEvent(context, NULL);
    if (!start || !plain->gate) abort();
    *start = (struct start){function, plain->gate};
    below.clRetainEvent(plain->gate);
    live("operations", 1);
    pthread_t thread;
    if (pthread_create(&thread, NULL, open_gate, start)) abort();
    pthread_detach(thread);
}

const cl_event *plain_begin(struct plain *plain, const char *function, cl_command_queue queue, cl_bool blocking,
                            cl_uint *count, const cl_event *list) {
    *plain = (struct plain){NULL, NULL, NULL};
    cl_context context;
    if (blocking) flush_queue(queue);
    int unflushed = !blocking && flush_needed(), late = slowed(function);
    if ((!late && !unflushed) || !*count != !list) return list;
    if (below.clGetCommandQueueInfo(queue, CL_QUEUE_CONTEXT, sizeof context, &context, NULL)) return list;
    plain->list = calloc(*count + 2, sizeof *plain->list);
    if (!plain->list) abort();
    if (list) memcpy(plain->list, list, *count * sizeof *list);
    if (late) start_later(plain, function, context);
    if (unflushed) plain->flush = flush_event(queue, context);
    if (plain->gate) plain->list[(*count)++] = plain->gate;
    if (plain->flush) plain->list[(*count)++] = plain->flush;
    return plain->list;
}

void plain_end(struct plain *plain) {
    if (plain->gate) below.clReleaseEvent(plain->gate);
    if (plain->flush) below.clReleaseEvent(plain->flush);
    free(plain->list);
}

struct late {
    struct own *own;
    cl_int code;
};

static void CL_CALLBACK over(cl_event event, cl_int status, void *of) {
    struct late *late = of;
    own_status(late->own, status < CL_COMPLETE ? status : late->code);
    own_release(late->own);
    free(late);
    below.clReleaseEvent(event);
    wake();
    live("operations", -1);
}

int plain_fails(const char *function, struct context *context, cl_command_queue queue, cl_event *event) {
    struct answer ordered;
    if (!fails_late(function, &ordered)) return 0;
    cl_command_type type = 0;
    cl_event real = *event;
    cl_int result;
    below.clGetEventInfo(real, CL_EVENT_COMMAND_TYPE, sizeof type, &type, NULL);
    struct late *late = calloc(1, sizeof *late);
    if (!late) abort();
    late->own = own_new(type, queue);
    late->code = (cl_int)ordered.code;
    *event = own_event(late->own, context, &result);
    live("operations", 1);
    if (!*event || below.clSetEventCallback(real, CL_COMPLETE, over, late)) abort();
    below.clFlush(queue);
    return 1;
}
