// SPDX-License-Identifier: Apache-2.0
/* Orders for a process that no test has a hand in, in the environment: SSG_FAKE="armed=1 delay:NAME=1000". */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ssg.h"

enum { ORDER = 128 };

static void obey(const char *order) {
    char name[ORDER];
    long value;
    if (sscanf(order, "delay:%100[^=]=%ld", name, &value) == 2) fake_delay(name, value);
    else if (sscanf(order, "fail:%100[^=]=%ld", name, &value) == 2) fake_fail(name, 1, value, 0);
    else if (sscanf(order, "%100[^=:]=%ld", name, &value) == 2) fake_set(name, value);
    else complain("SSG_FAKE: %s is no order", order);
}

EXPORT void fake_configure(const char *orders) {
    char order[ORDER];
    int length;
    for (; sscanf(orders, "%127s%n", order, &length) == 1; orders += length) obey(order);
}

void settings_read(void) {
    const char *orders = getenv("SSG_FAKE");
    if (orders) fake_configure(orders);
}
