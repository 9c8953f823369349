// SPDX-License-Identifier: Apache-2.0
// For Linux, preloaded into Wine: PoCL, and LLVM in it, install no signal handlers.
//
// A Windows JVM under Wine needs Wine's handler of SIGSEGV for each safepoint. LLVM's replaces it (Signals.inc,
// RegisterHandlers) and has SA_RESETHAND: at the first signal it puts Wine's back, and a second thread that faults before
// that ends the process. So does SIGQUIT, by which Wine ends the threads of a process that exits. On Linux the backend
// restores the JVM's handlers; a Windows program cannot see those of Linux.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <string.h>

typedef int (*sigaction_function)(int, const struct sigaction *, struct sigaction *);

int sigaction(int signal, const struct sigaction *handler, struct sigaction *old) {
    static sigaction_function next;
    Dl_info caller;
    if (!next) {
        next = (sigaction_function) dlsym(RTLD_NEXT, "sigaction");
    }
    if (handler && dladdr(__builtin_return_address(0), &caller)
            && (strstr(caller.dli_fname, "/libLLVM") || strstr(caller.dli_fname, "/libpocl"))) {
        handler = NULL;
    }
    return next(signal, handler, old);
}
