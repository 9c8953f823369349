// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.util.List;
import java.util.Objects;

/**
 * Whether a backend is available here; if not, why, and what to do about it.
 *
 * @param available whether {@code Backends.open} would return this backend
 * @param hardware whether the device is hardware; software OpenCL or GL is opened only by name
 * @param reason what was found; for an absent backend, why it cannot be used
 * @param remedy what the reader can do about it; empty where nothing is wrong
 * @param details further facts, a line each: devices, versions, limits
 */
public record Availability(boolean available, boolean hardware, String reason, String remedy, List<String> details) {

    public Availability {
        Objects.requireNonNull(reason, "reason");
        Objects.requireNonNull(remedy, "remedy");
        details = List.copyOf(details);
    }

    /** Returns the availability of a backend that can be used. */
    public static Availability available(boolean hardware, String reason, List<String> details) {
        return new Availability(true, hardware, reason, "", details);
    }

    /** Returns the availability of a backend that cannot be used. */
    public static Availability absent(String reason, String remedy) {
        return new Availability(false, false, reason, remedy, List.of());
    }
}
