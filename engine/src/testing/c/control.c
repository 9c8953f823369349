// SPDX-License-Identifier: Apache-2.0
#include "control.h"

#include <errno.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define NAMES 256
#define ORDERS 16
#define NAME 64

struct order {
    long left; /* calls until it strikes; 0: always */
    struct answer answer;
};

struct function {
    char name[NAME];
    long calls;
    struct order orders[ORDERS];
    int order_count;
    long delay;
    long most; /* bytes + 1; 0: all */
    int hold;
    unsigned releases;
    long held;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static struct function functions[NAMES];
static int function_count;
static char complaint[512];
static int resetting;

static void plain_name(const char *name, char *plain) {
    snprintf(plain, NAME, "%s", name);
    size_t length = strlen(plain);
    if (length > 3 && !strcmp(plain + length - 3, "_v2")) plain[length - 3] = 0;
}

static struct function *function(const char *name) {
    char plain[NAME];
    plain_name(name, plain);
    for (int i = 0; i < function_count; i++)
        if (!strcmp(functions[i].name, plain)) return &functions[i];
    if (function_count == NAMES) abort();
    struct function *made = &functions[function_count++];
    memset(made, 0, sizeof *made);
    memcpy(made->name, plain, NAME);
    return made;
}

/* Takes the order that strikes now, if any. */
static int strikes(struct function *f, struct answer *answer) {
    int struck = 0;
    for (int i = 0; i < f->order_count; i++) {
        struct order *order = &f->orders[i];
        if (order->left > 1) {
            order->left--;
        } else if (!struck) {
            struck = 1;
            *answer = order->answer;
            if (order->left == 1) {
                memmove(order, order + 1, sizeof *order * (size_t)(f->order_count - i - 1));
                f->order_count--;
                i--;
            }
        }
    }
    return struck;
}

int called(const char *name, struct answer *answer) {
    pthread_mutex_lock(&lock);
    struct function *f = function(name);
    f->calls++;
    int struck = strikes(f, answer);
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    if (getenv("FAKES_TRACE")) fprintf(stderr, "fake: %s%s\n", name, struck ? " fails as ordered" : "");
    return struck;
}

int fails_late(const char *name, struct answer *answer) {
    char late[NAME];
    snprintf(late, sizeof late, "late:%s", name);
    pthread_mutex_lock(&lock);
    int struck = strikes(function(late), answer);
    pthread_mutex_unlock(&lock);
    return struck;
}

void carry_out(const char *name) {
    pthread_mutex_lock(&lock);
    struct function *f = function(name);
    long delay = f->delay;
    pthread_mutex_unlock(&lock);
    if (delay > 0) usleep((useconds_t)delay);
    pthread_mutex_lock(&lock);
    unsigned releases = f->releases;
    if (f->hold && !resetting) {
        f->held++;
        pthread_cond_broadcast(&changed);
        while (f->hold && f->releases == releases && !resetting) pthread_cond_wait(&changed, &lock);
        f->held--;
        pthread_cond_broadcast(&changed);
    }
    pthread_mutex_unlock(&lock);
}

int slowed(const char *name) {
    pthread_mutex_lock(&lock);
    struct function *f = function(name);
    int result = f->delay > 0 || f->hold;
    pthread_mutex_unlock(&lock);
    return result;
}

size_t shortened(const char *name, size_t bytes) {
    pthread_mutex_lock(&lock);
    long most = function(name)->most;
    pthread_mutex_unlock(&lock);
    return most > 0 && bytes > (size_t)(most - 1) ? (size_t)(most - 1) : bytes;
}

void complain(const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&lock);
    /* Whatever comes later may be a consequence of the first. */
    if (!complaint[0] && !resetting) vsnprintf(complaint, sizeof complaint, format, arguments);
    if (getenv("FAKES_TRACE")) fprintf(stderr, "fake: complains: %s\n", complaint);
    pthread_mutex_unlock(&lock);
    va_end(arguments);
}

int stopping(void) {
    return __atomic_load_n(&resetting, __ATOMIC_ACQUIRE);
}

void fake_reset(void) {
    pthread_mutex_lock(&lock);
    __atomic_store_n(&resetting, 1, __ATOMIC_RELEASE);
    for (int i = 0; i < function_count; i++) {
        functions[i].hold = 0;
        functions[i].delay = 0;
    }
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
    reset_library();
    pthread_mutex_lock(&lock);
    /* The entries stay: a thread that was held may still hold a pointer to its own. */
    for (int i = 0; i < function_count; i++) {
        functions[i].calls = 0;
        functions[i].order_count = 0;
        functions[i].most = 0;
    }
    complaint[0] = 0;
    pthread_mutex_unlock(&lock);
    values_reset();
    __atomic_store_n(&resetting, 0, __ATOMIC_RELEASE);
}

void fake_fail(const char *name, long nth, long code, long err) {
    pthread_mutex_lock(&lock);
    struct function *f = function(name);
    if (nth < 0) {
        f->order_count = 0;
    } else {
        if (f->order_count == ORDERS) abort();
        f->orders[f->order_count++] = (struct order){nth, {code, err}};
    }
    pthread_mutex_unlock(&lock);
}

void fake_delay(const char *name, long micros) {
    pthread_mutex_lock(&lock);
    function(name)->delay = micros;
    pthread_mutex_unlock(&lock);
}

void fake_short(const char *name, long bytes) {
    pthread_mutex_lock(&lock);
    function(name)->most = bytes < 0 ? 0 : bytes + 1;
    pthread_mutex_unlock(&lock);
}

void fake_hold(const char *name) {
    pthread_mutex_lock(&lock);
    function(name)->hold = 1;
    pthread_mutex_unlock(&lock);
}

void fake_release(const char *name) {
    pthread_mutex_lock(&lock);
    struct function *f = function(name);
    f->hold = 0;
    f->releases++;
    pthread_cond_broadcast(&changed);
    pthread_mutex_unlock(&lock);
}

static long await(const char *name, long wanted, long millis, size_t field) {
    struct timespec until = in_millis(millis);
    pthread_mutex_lock(&lock);
    long *count = (long *)((char *)function(name) + field);
    while (*count < wanted && pthread_cond_timedwait(&changed, &lock, &until) != ETIMEDOUT) continue;
    long result = *count;
    pthread_mutex_unlock(&lock);
    return result;
}

long fake_await_held(const char *name, long operations, long millis) {
    return await(name, operations, millis, offsetof(struct function, held));
}

long fake_await_calls(const char *name, long calls, long millis) {
    return await(name, calls, millis, offsetof(struct function, calls));
}

long fake_held(const char *name) {
    return fake_await_held(name, 0, 0);
}

long fake_calls(const char *name) {
    return fake_await_calls(name, 0, 0);
}

const char *fake_complaint(void) {
    /* A copy that stays: the test reads it after the lock is gone. */
    static __thread char told[sizeof complaint];
    pthread_mutex_lock(&lock);
    memcpy(told, complaint, sizeof told);
    pthread_mutex_unlock(&lock);
    return told[0] ? told : NULL;
}

void fake_forgive(void) {
    pthread_mutex_lock(&lock);
    complaint[0] = 0;
    pthread_mutex_unlock(&lock);
}
