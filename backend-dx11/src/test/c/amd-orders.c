// SPDX-License-Identifier: Apache-2.0
#include "amd-fake.h"
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#define MOST 64

volatile LONG layout = 1;

typedef struct Order {
    char function[32];
    HRESULT answer;
    int times, calls;
} Order;

static Order orders[MOST];
static volatile LONG held;
static char complaints[4096];
static int most_regions, most_in_flight;

static Order *order(const char *function) {
    for (int i = 0; i < MOST; i++) {
        if (!orders[i].function[0]) strncpy(orders[i].function, function, sizeof orders[i].function - 1);
        if (!strcmp(orders[i].function, function)) return &orders[i];
    }
    return &orders[0];
}

HRESULT entered(const char *function) {
    EnterCriticalSection(&lock);
    Order *found = order(function);
    found->calls++;
    HRESULT answer = found->times > 0 ? found->times--, found->answer : S_OK;
    LeaveCriticalSection(&lock);
    return answer;
}

void wait_while_held(void) {
    while (held) Sleep(1);
}

void counted(UINT regions, int in_flight) {
    if ((int)regions > most_regions) most_regions = regions;
    if (in_flight > most_in_flight) most_in_flight = in_flight;
}

void complain(const char *format, ...) {
    char text[256];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    EnterCriticalSection(&lock);
    if (strlen(complaints) + strlen(text) + 2 < sizeof complaints) strcat(strcat(complaints, text), "\n");
    LeaveCriticalSection(&lock);
}

EXPORT void ssg_reset(int which) {
    EnterCriticalSection(&lock);
    memset(orders, 0, sizeof orders);
    held = 0;
    complaints[0] = 0;
    most_regions = most_in_flight = 0;
    layout = which;
    forget();
    LeaveCriticalSection(&lock);
}

// The next calls of a function answer so, after what they do if that frees something.
EXPORT void ssg_answer(const char *function, int answer, int times) {
    EnterCriticalSection(&lock);
    order(function)->answer = answer;
    order(function)->times = times;
    LeaveCriticalSection(&lock);
}

EXPORT void ssg_hold(int hold) {
    held = hold;
}

EXPORT int ssg_calls(const char *function) {
    EnterCriticalSection(&lock);
    int calls = order(function)->calls;
    LeaveCriticalSection(&lock);
    return calls;
}

EXPORT int ssg_most_regions(void) {
    return most_regions;
}

EXPORT int ssg_most_in_flight(void) {
    return most_in_flight;
}

EXPORT const char *ssg_complaints(void) {
    return complaints;
}
