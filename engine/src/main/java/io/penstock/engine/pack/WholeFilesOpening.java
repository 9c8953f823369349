// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.pack;

import io.penstock.Options;
import io.penstock.engine.host.kernel.LinuxKernel;
import io.penstock.engine.host.queue.ChannelQueue;
import io.penstock.engine.host.uring.RingProbe;
import io.penstock.engine.host.whole.RingFiles;
import io.penstock.engine.host.whole.ThreadFiles;
import io.penstock.engine.host.whole.WholeFile;
import io.penstock.engine.host.whole.WholeFiles;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.Wakeup;
import java.util.function.Consumer;

/** By what means a backend reads whole files: one io_uring for each subscription, or threads. */
final class WholeFilesOpening {

    private WholeFilesOpening() {}

    /** Probed once for the process, when it is needed. */
    private static final class Ring {
        static final String REFUSAL = refusal();

        private static String refusal() {
            var ring = RingProbe.probe(LinuxKernel.INSTANCE);
            return ring.isAvailable()
                    ? ""
                    : "blocking calls on threads: " + ring.reason() + " (" + ring.detail() + "); " + ring.remedy();
        }
    }

    /** Opens it for a subscription; {@code read} gets each file whose reading has ended. */
    static WholeFiles open(Options options, int inFlight, Consumer<? super WholeFile> read) {
        int threads = ChannelQueue.threads(options);
        boolean pool = options.get(HostOptions.IO) == HostIo.POOL;
        String why = pool ? "blocking calls on threads, as set by " + HostOptions.IO : Ring.REFUSAL;
        if (why.isEmpty()) {
            try {
                return RingFiles.open(LinuxKernel.INSTANCE, inFlight, threads, read);
            } catch (ErrnoException refused) {
                why = "blocking calls on threads: no io_uring for this subscription: " + refused.getMessage();
            }
        }
        return new ThreadFiles(inFlight, threads, new Wakeup(), why, read);
    }
}
