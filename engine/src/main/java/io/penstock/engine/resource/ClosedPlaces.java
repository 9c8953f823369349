// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.resource;

import java.util.Collections;
import java.util.Map;
import java.util.Objects;
import java.util.WeakHashMap;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Where files and buffers were closed, with {@code penstock.leak-detection}: the cause of what was refused after that. */
public final class ClosedPlaces {

    private static final Map<Object, Throwable> PLACES = Collections.synchronizedMap(new WeakHashMap<>());

    private ClosedPlaces() {}

    /** Called by the thread that closes a file or a buffer. */
    static void add(Owner owner, Object closed) {
        if (owner.isDetectingLeaks()) {
            PLACES.putIfAbsent(
                    closed,
                    new Throwable(closed + " was closed here, on "
                            + Thread.currentThread().getName()));
        }
    }

    /** Returns where the first of them was closed that was; null if that is not known. */
    public static @Nullable Throwable of(@Nullable Object... resources) {
        return Stream.of(resources)
                .filter(Objects::nonNull)
                .map(PLACES::get)
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }
}
