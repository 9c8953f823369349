// SPDX-License-Identifier: Apache-2.0
/* Properties that a test has set, and how many of each kind live. A process that no test drives has them from its
   environment, as FAKE_ and the name. */
#include "control.h"

#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES 64
#define NAME 64

struct value {
    char name[NAME];
    long value;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct value kinds[NAMES];
static int kind_count;
static struct value properties[NAMES];
static int property_count;

struct timespec in_millis(long millis) {
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_sec += millis / 1000;
    until.tv_nsec += millis % 1000 * 1000000;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    return until;
}

static struct value *value(struct value *values, int *count, const char *name, int make) {
    for (int i = 0; i < *count; i++)
        if (!strcmp(values[i].name, name)) return &values[i];
    if (!make) return NULL;
    if (*count == NAMES) abort();
    struct value *made = &values[(*count)++];
    snprintf(made->name, NAME, "%s", name);
    made->value = 0;
    return made;
}

static long of_environment(const char *name, long fallback) {
    char variable[NAME + 5];
    snprintf(variable, sizeof variable, "FAKE_%s", name);
    const char *text = getenv(variable);
    return text ? atol(text) : fallback;
}

long property(const char *name, long fallback) {
    pthread_mutex_lock(&lock);
    struct value *found = value(properties, &property_count, name, 0);
    long result = found ? found->value : of_environment(name, fallback);
    pthread_mutex_unlock(&lock);
    return result;
}

void live(const char *kind, long more) {
    pthread_mutex_lock(&lock);
    value(kinds, &kind_count, kind, 1)->value += more;
    if (more < 0) pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

long fake_live(const char *kind) {
    pthread_mutex_lock(&lock);
    struct value *found = value(kinds, &kind_count, kind, 0);
    long result = found ? found->value : 0;
    pthread_mutex_unlock(&lock);
    return result;
}

long fake_await_live(const char *kind, long most, long millis) {
    struct timespec until = in_millis(millis);
    pthread_mutex_lock(&lock);
    struct value *found = value(kinds, &kind_count, kind, 1);
    while (found->value > most && pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT) continue;
    long result = found->value;
    pthread_mutex_unlock(&lock);
    return result;
}

void fake_set(const char *name, long set) {
    pthread_mutex_lock(&lock);
    value(properties, &property_count, name, 1)->value = set;
    pthread_mutex_unlock(&lock);
}

void values_reset(void) {
    pthread_mutex_lock(&lock);
    for (int i = 0; i < kind_count; i++) kinds[i].value = 0;
    property_count = 0;
    pthread_mutex_unlock(&lock);
}
