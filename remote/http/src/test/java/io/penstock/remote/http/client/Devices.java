// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.tck.Require;

/** Backends whose memory the processor does not reach, where they are; elsewhere a test is skipped. */
final class Devices {

    private Devices() {}

    /** Opens a backend by its name, on its staged path; host as it is. */
    static Backend open(String name) {
        if (name.equals("host")) {
            return Backends.open(name);
        }
        Availability availability = Backends.list().stream()
                .filter(listing -> listing.name().equals(name))
                .findFirst()
                .orElseThrow()
                .availability();
        String option = name.equals("opencl-ssg") ? "opencl" : name;
        Require.backend(option, availability);
        return Backends.open(name, Options.none().with("penstock." + option + ".path", "staged"));
    }
}
