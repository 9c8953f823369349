// SPDX-License-Identifier: Apache-2.0
/* Functions by name: the newest form that the asked version has, as the headers of that version would have named it. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#include "cuda.h"

enum { FOUND = 0, NO_SYMBOL = 1, WITHOUT_FAIL_INDEX = 13000 };

static void *own(const char *name) {
    Dl_info here;
    if (!dladdr((void *)(uintptr_t)&own, &here)) return NULL;
    void *library = dlopen(here.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
    if (!library) return NULL;
    void *symbol = dlsym(library, name);
    dlclose(library);
    return symbol;
}

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status) {
    CALLED(AT_ONCE);
    REQUIRE(name && function && flags <= 2, INVALID_VALUE);
    char newer[96];
    snprintf(newer, sizeof newer, "%s_v2", name);
    int old_batch = !strcmp(name, "cuMemcpyBatchAsync") && version < WITHOUT_FAIL_INDEX;
    void *found = strncmp(name, "cu", 2) ? NULL : old_batch ? NULL : own(newer);
    if (!found && !strncmp(name, "cu", 2)) found = own(name);
    *function = found;
    if (status) *status = found ? FOUND : NO_SYMBOL;
    return found ? SUCCESS : NOT_FOUND;
}
