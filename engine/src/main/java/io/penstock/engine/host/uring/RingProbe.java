// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.uring;

import static io.penstock.engine.host.kernel.RingAvailability.Reason;

import io.penstock.engine.ffi.IoUring;
import io.penstock.engine.host.kernel.Kernel;
import io.penstock.engine.host.kernel.RingAvailability;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.kit.ffi.ErrnoException;

/**
 * Probes whether io_uring is available, by each of its three calls on the smallest ring: a seccomp profile may refuse
 * one.
 */
public final class RingProbe {
    private static final byte[] REQUIRED = {
        IoUring.IORING_OP_READ,
        IoUring.IORING_OP_WRITE,
        IoUring.IORING_OP_READ_FIXED,
        IoUring.IORING_OP_WRITE_FIXED,
        IoUring.IORING_OP_FSYNC,
        IoUring.IORING_OP_ASYNC_CANCEL
    };

    private RingProbe() {}

    /** Returns whether io_uring is available on {@code kernel}, and if not, why; never throws. */
    public static RingAvailability probe(Kernel kernel) {
        RingAvailability platform = kernel.platform();
        if (!platform.isAvailable()) {
            return platform;
        }
        try (Ring ring = Ring.open(kernel, RingOptions.ofEntries(2))) {
            if (!ring.registration().supports(REQUIRED)) {
                return new RingAvailability(Reason.KERNEL_TOO_OLD, "an operation is missing");
            }
            ring.submissions().nop(0);
            ring.submit();
            return RingAvailability.AVAILABLE;
        } catch (ErrnoException refused) {
            return explain(kernel, refused);
        }
    }

    private static RingAvailability explain(Kernel kernel, ErrnoException refused) {
        String answer = String.valueOf(refused.getMessage());
        return switch (refused.errno()) {
            case Errno.EPERM -> {
                int disabled = kernel.ioUringDisabled();
                // 1 admits privileged processes; the refusal shows that this one is not privileged.
                yield disabled > 0
                        ? new RingAvailability(Reason.FORBIDDEN_BY_SYSCTL, answer + ", io_uring_disabled=" + disabled)
                        : new RingAvailability(Reason.FORBIDDEN_BY_SECCOMP, answer);
            }
            case Errno.EACCES -> new RingAvailability(Reason.FORBIDDEN_BY_SECCOMP, answer);
            case Errno.ENOSYS -> new RingAvailability(Reason.NO_SYSTEM_CALL, answer);
            case Errno.ENOMEM -> new RingAvailability(Reason.LOCKED_MEMORY_LIMIT, answer);
            case Errno.EMFILE, Errno.ENFILE -> new RingAvailability(Reason.OPEN_FILES_LIMIT, answer);
            case Errno.EOPNOTSUPP, Errno.EINVAL -> new RingAvailability(Reason.KERNEL_TOO_OLD, answer);
            default -> new RingAvailability(Reason.OTHER, answer);
        };
    }
}
