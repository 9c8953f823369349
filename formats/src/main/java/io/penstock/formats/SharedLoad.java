// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.Backend;
import io.penstock.Completion;
import io.penstock.SharedRead;
import io.penstock.Transfer;
import java.nio.file.Path;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
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
 * <p>Arrays that are decoded, converted, or sliced are loaded by each for itself. A load that fails or is
 * cancelled leaves the others alone. Used for one round of loads; thread-safe.
 */
public final class SharedLoad {

    private record Part(Path file, int number) {}

    private final ConcurrentMap<Part, SharedRead> parts = new ConcurrentHashMap<>();

    /** Creates one that no load takes part in. */
    public SharedLoad() {}

    /** Returns the completion of a read, the {@code number}th of its file, in each of the loads. */
    Mono<Completion> join(Backend backend, Path file, int number, Transfer read) {
        return Mono.defer(() -> parts.computeIfAbsent(new Part(file, number), part -> new SharedRead())
                .join(backend, read));
    }
}
