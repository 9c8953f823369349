// SPDX-License-Identifier: Apache-2.0
/*
 * What a queue holds back until it is flushed: an implementation need not start a command before clFlush, clFinish, a
 * blocking call, clWaitForEvents or the release of the queue, and this one does not. Commands of this layer are counted;
 * those of the library below wait for a user event.
 */
#include <stdlib.h>

#include "ssg.h"

struct batch {
    cl_command_queue queue;
    cl_event event;
    struct batch *next;
};

static struct batch *batches; /* with the lock; one a queue at most */

int flush_needed(void) {
    return property("armed", 0) && property("flush", 1) && !stopping();
}

cl_event flush_event(cl_command_queue queue, cl_context context) {
    cl_int result;
    struct batch *made = calloc(1, sizeof *made);
    cl_event event = below.clCreateUserEvent(context, &result);
    if (!made || result) abort();
    *made = (struct batch){queue, event, NULL};
    LOCK();
    struct batch *batch = batches;
    while (batch && batch->queue != queue) batch = batch->next;
    if (!batch) {
        made->next = batches;
        batch = batches = made;
    }
    event = batch->event;
    below.clRetainEvent(event);
    UNLOCK();
    if (batch != made) {
        below.clSetUserEventStatus(made->event, CL_COMPLETE);
        below.clReleaseEvent(made->event);
        free(made);
    }
    return event;
}

static void open_batches(cl_command_queue queue) {
    struct batch *taken = NULL;
    LOCK();
    for (struct batch **at = &batches; *at;) {
        struct batch *batch = *at;
        if (queue && batch->queue != queue) {
            at = &batch->next;
            continue;
        }
        *at = batch->next;
        batch->next = taken;
        taken = batch;
    }
    UNLOCK();
    for (struct batch *next; taken; taken = next) {
        next = taken->next;
        below.clSetUserEventStatus(taken->event, CL_COMPLETE);
        below.clReleaseEvent(taken->event);
        free(taken);
    }
}

void flush_queue(cl_command_queue handle) {
    LOCK();
    struct queue *queue = object_get(QUEUES, handle);
    if (queue) queue->flushed = commands_numbered();
    UNLOCK();
    open_batches(handle);
    wake();
}

void flush_reset(void) {
    open_batches(NULL);
    wake();
}
