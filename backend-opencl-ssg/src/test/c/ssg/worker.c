// SPDX-License-Identifier: Apache-2.0
/* Threads that carry out commands, as many as there are commands at once: one that is held keeps no other waiting. */
#include <stdlib.h>
#include <unistd.h>

#include "ssg.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t posted = PTHREAD_COND_INITIALIZER;
static struct command *first, *last;
static long idle;

void jitter(unsigned long number) {
    unsigned long seed = (unsigned long)property("seed", 0);
    unsigned long most = (unsigned long)property("jitter", 2000);
    if (!seed || !most) return;
    unsigned long mixed = seed * 0x9E3779B97F4A7C15u + number * 0xBF58476D1CE4E5B9u;
    mixed = (mixed ^ mixed >> 30) * 0x94D049BB133111EBu;
    usleep((useconds_t)((mixed ^ mixed >> 31) % most));
}

static cl_int carried_out(struct command *command) {
    struct answer ordered;
    if (command->failed) return command->failed;
    own_status(command->own, CL_RUNNING);
    carry_out(command->function);
    jitter(command->number);
    if (fails_late(command->function, &ordered)) return (cl_int)ordered.code;
    return command->run(command);
}

static void *work(void *nothing) {
    (void)nothing;
    for (;;) {
        pthread_mutex_lock(&lock);
        idle++;
        while (!first) pthread_cond_wait(&posted, &lock);
        struct command *command = first;
        first = command->next;
        if (!first) last = NULL;
        pthread_mutex_unlock(&lock);
        command_finish(command, carried_out(command));
    }
    return NULL;
}

void worker_post(struct command *command) {
    own_status(command->own, CL_SUBMITTED);
    pthread_mutex_lock(&lock);
    command->next = NULL;
    if (last) last->next = command;
    else first = command;
    last = command;
    /* A thread that is made now is not idle yet when the next command comes. */
    if (idle-- > 0) {
        pthread_cond_signal(&posted);
    } else {
        pthread_t thread;
        if (pthread_create(&thread, NULL, work, NULL)) abort();
        pthread_detach(thread);
    }
    pthread_mutex_unlock(&lock);
}
