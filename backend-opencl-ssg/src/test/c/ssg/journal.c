// SPDX-License-Identifier: Apache-2.0
/* What the fake said no to, in the order in which it did. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ssg.h"

enum { LINES = 64, LINE = 256 };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lines[LINES][LINE];
static unsigned long count;

/* How often the fake said no since the last reset. */
EXPORT long fake_refusals(void) {
    pthread_mutex_lock(&lock);
    long result = (long)count;
    pthread_mutex_unlock(&lock);
    return result;
}

/* What it said no to; null if there is no such refusal, or not any more. 0 is the first. */
EXPORT const char *fake_refusal(long number) {
    static __thread char told[LINE];
    pthread_mutex_lock(&lock);
    int there = number >= 0 && (unsigned long)number < count && count - (unsigned long)number <= LINES;
    if (there) memcpy(told, lines[number % LINES], LINE);
    pthread_mutex_unlock(&lock);
    return there ? told : NULL;
}

cl_int refuse(const char *function, cl_int code, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    pthread_mutex_lock(&lock);
    char *line = lines[count++ % LINES];
    int used = snprintf(line, LINE, "%s -> %d: ", function, code);
    vsnprintf(line + used, LINE - (size_t)used, format, arguments);
    if (getenv("FAKES_TRACE")) fprintf(stderr, "fake: refuses: %s\n", line);
    pthread_mutex_unlock(&lock);
    va_end(arguments);
    return code;
}

void journal_reset(void) {
    pthread_mutex_lock(&lock);
    count = 0;
    pthread_mutex_unlock(&lock);
}
