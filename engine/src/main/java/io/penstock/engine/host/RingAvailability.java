// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

/**
 * Whether io_uring can be used here, and if not, why.
 *
 * @param detail what was found, for people; empty where nothing is wrong
 */
public record RingAvailability(Reason reason, String detail) {

    public static final RingAvailability AVAILABLE = new RingAvailability(Reason.AVAILABLE, "");

    public boolean isAvailable() {
        return reason == Reason.AVAILABLE;
    }

    /** Why, and what would help. */
    public enum Reason {
        AVAILABLE(""),
        NOT_LINUX("nothing: file channels are the way here"),
        UNSUPPORTED_ARCHITECTURE("nothing: file channels are the way here"),
        /** JNA could not load its library: a read-only or noexec temporary directory, or an absent jar. */
        NO_NATIVE_ACCESS("let JNA unpack its library: set jna.tmpdir to a directory that allows execution"),
        FORBIDDEN_BY_SYSCTL("sysctl kernel.io_uring_disabled=0"),
        /** EPERM although the setting allows it: a seccomp filter, as container runtimes install. */
        FORBIDDEN_BY_SECCOMP(
                "allow io_uring_setup, io_uring_enter, io_uring_register in the container's seccomp profile"),
        /** ENOSYS; some container runtimes answer so too. */
        NO_SYSTEM_CALL("Linux 5.6 or later, and a seccomp profile that knows io_uring"),
        LOCKED_MEMORY_LIMIT("raise ulimit -l (RLIMIT_MEMLOCK)"),
        KERNEL_TOO_OLD("Linux 5.6 or later"),
        OTHER("");

        private final String remedy;

        Reason(String remedy) {
            this.remedy = remedy;
        }

        public String remedy() {
            return remedy;
        }
    }
}
