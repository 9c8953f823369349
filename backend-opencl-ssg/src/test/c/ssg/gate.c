// SPDX-License-Identifier: Apache-2.0
/*
 * What stands behind commands of this layer in a queue below: a marker that waits for a user event, which is set when they
 * have ended, whatever came of them. In the runtime a failed command fails those that wait for its event, not those behind
 * it in the queue. An ordered queue has a gate behind each command; one that is not has them only where something waits for
 * all before it, for there the library below lets each marker wait for all others.
 */
#include <stdlib.h>

#include "ssg.h"

struct gate {
    cl_event event;
    long commands; /* that hold it shut */
};

struct hold {
    struct gate *gate;
    struct hold *next;
};

static void hold(struct command *command, struct gate *gate) {
    struct hold *made = malloc(sizeof *made);
    if (!made) abort();
    *made = (struct hold){gate, command->holds};
    command->holds = made;
    gate->commands++;
}

static void open_if_free(struct gate *gate, long commands) {
    if (commands) return;
    below.clSetUserEventStatus(gate->event, CL_COMPLETE);
    below.clReleaseEvent(gate->event);
    free(gate);
}

static void shut(struct queue *queue, struct command *first, int all) {
    cl_int result;
    struct gate *gate = calloc(1, sizeof *gate);
    if (!gate) abort();
    gate->event = below.clCreateUserEvent(queue->context->object.handle, &result);
    if (result || below.clEnqueueMarkerWithWaitList(queue->object.handle, 1, &gate->event, NULL)) abort();
    LOCK();
    gate->commands = 1; /* until all that hold it are counted */
    for (struct command *command = all ? queue->pending : first; command; command = all ? command->behind : NULL)
        hold(command, gate);
    long left = --gate->commands;
    UNLOCK();
    open_if_free(gate, left);
    below.clFlush(queue->object.handle);
}

void gate_enter(struct command *command) {
    struct queue *queue = command->queue;
    LOCK();
    command->behind = queue->pending;
    if (queue->pending) queue->pending->before = command;
    queue->pending = command;
    UNLOCK();
    if (queue->ordered) shut(queue, command, 0);
}

void gate_leave(struct command *command) {
    LOCK();
    if (command->before) command->before->behind = command->behind;
    else command->queue->pending = command->behind;
    if (command->behind) command->behind->before = command->before;
    struct hold *holds = command->holds;
    UNLOCK();
    while (holds) {
        struct hold *gone = holds;
        holds = gone->next;
        LOCK();
        long left = --gone->gate->commands;
        UNLOCK();
        open_if_free(gone->gate, left);
        free(gone);
    }
}

void gate_here(cl_command_queue handle) {
    LOCK();
    struct queue *queue = object_get(QUEUES, handle);
    int needed = queue && !queue->ordered && queue->pending;
    if (needed) pin(queue);
    UNLOCK();
    if (!needed) return;
    shut(queue, NULL, 1);
    unpin(queue);
}
