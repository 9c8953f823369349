// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.kernel;

/**
 * Whether io_uring is available, and if not, why.
 *
 * @param detail what was found, for display; empty if io_uring is available
 * @param remedy how to enable it; may be empty
 */
public record RingAvailability(Reason reason, String detail, String remedy) {

    public static final RingAvailability AVAILABLE = new RingAvailability(Reason.AVAILABLE, "");

    /** As above, with the default remedy of {@code reason}. */
    public RingAvailability(Reason reason, String detail) {
        this(reason, detail, reason.remedy);
    }

    public boolean isAvailable() {
        return reason == Reason.AVAILABLE;
    }

    /** The reason, and its default remedy. */
    public enum Reason {
        AVAILABLE(""),
        NOT_LINUX("none: this platform uses file channels"),
        UNSUPPORTED_ARCHITECTURE("none: this platform uses file channels"),
        /** JNA could not be loaded: forbidden by the JVM, a noexec temporary directory, an absent module or jar. */
        NO_NATIVE_ACCESS(""),
        FORBIDDEN_BY_SYSCTL("sysctl kernel.io_uring_disabled=0"),
        /** EPERM although the setting allows it: a seccomp filter, as container runtimes install. */
        FORBIDDEN_BY_SECCOMP(
                "allow io_uring_setup, io_uring_enter, io_uring_register in the container's seccomp profile"),
        /** ENOSYS; some container runtimes return it too. */
        NO_SYSTEM_CALL("Linux 5.6 or later, and a seccomp profile that includes io_uring"),
        LOCKED_MEMORY_LIMIT("raise ulimit -l (RLIMIT_MEMLOCK)"),
        OPEN_FILES_LIMIT("raise ulimit -n (RLIMIT_NOFILE), or fs.file-max for the whole machine"),
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
