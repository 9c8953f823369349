// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.SharedRead;
import io.penstock.Transfer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.function.Function;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;

/**
 * What loads of the same arrays into several devices have in common: each byte is read from its file by one of them, and
 * copied by the others, as by {@link SharedRead}. For loads that run at the same time:
 *
 * <pre>{@code
 * SharedLoad shared = new SharedLoad();
 * Mono.zip(Loader.of(gpu0).shared(shared).load(path), Loader.of(gpu1).shared(shared).load(path));
 * }</pre>
 *
 * <p>Or, in each of four processes:
 *
 * <pre>{@code
 * SharedLoad shared = SharedLoad.ofProcesses(Path.of("/run/user/1000/model"), 4, Duration.ofSeconds(10));
 * Loader.of(gpu).shared(shared).load(path);
 * }</pre>
 *
 * <p>Arrays that are decoded, converted, or sliced are loaded by each for itself. A load that fails or is
 * cancelled leaves the others alone. Used for one round of loads; thread-safe.
 */
public final class SharedLoad {

    private static final Logger LOG = LoggerFactory.getLogger(SharedLoad.class);
    private static final long CHUNK_BYTES = 16L << 20;

    private record Part(Path file, int number) {

        /** Returns a short name, which is the same in all processes. */
        String name() {
            byte[] path = file.toAbsolutePath().normalize().toString().getBytes(StandardCharsets.UTF_8);
            return UUID.nameUUIDFromBytes(path).toString().substring(0, 13) + "-" + number;
        }
    }

    private final ConcurrentMap<Part, SharedRead> parts = new ConcurrentHashMap<>();
    private final Function<Part, SharedRead> reads;
    private final Consumer<Completion> log;

    /** Creates one that no load takes part in. */
    public SharedLoad() {
        this(part -> new SharedRead(), done -> {});
    }

    private SharedLoad(Function<Part, SharedRead> reads, Consumer<Completion> log) {
        this.reads = reads;
        this.log = log;
    }

    /**
     * Returns what loads of several processes of this host have in common, each of which loads the same arrays of the same
     * paths: as by {@link SharedRead#ofProcesses}, for each gibibyte. A process that does not come within
     * {@code patience}, or leaves, is not waited for again. The log has, at INFO, what the first part was: how many bytes
     * were copied, how many processes came, and why a copy was refused.
     *
     * @param socket where they meet: some sockets with names that begin so
     * @param processes how many will come
     * @throws IllegalArgumentException if {@code processes} is less than 1
     */
    public static SharedLoad ofProcesses(Path socket, int processes, Duration patience) {
        SharedRead all = SharedRead.ofProcesses(socket, processes, patience);
        AtomicBoolean logged = new AtomicBoolean();
        return new SharedLoad(part -> all.part(part.name(), CHUNK_BYTES), done -> {
            if (logged.compareAndSet(false, true)) {
                LOG.info("{}: {}", done.transfer(), done.reason());
            }
        });
    }

    /** Returns the completion of a read, the {@code number}th of its file, in each of the loads. */
    Mono<Completion> join(Backend backend, Path file, int number, Transfer read) {
        return Mono.defer(() -> parts.computeIfAbsent(new Part(file, number), reads)
                .join(backend, read)
                .doOnNext(log));
    }
}
