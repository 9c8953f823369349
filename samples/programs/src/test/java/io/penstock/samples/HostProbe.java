// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples;

import io.penstock.TransferPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.stream.LiveLeases;
import io.penstock.tck.LeakProbe;
import io.penstock.tck.TckSubject;
import java.nio.file.Path;
import java.util.Map;

/** Counts what a program may leave behind in host memory: descriptors, slabs and leases. */
public final class HostProbe {

    private HostProbe() {}

    /** Returns a probe for programs whose files are in {@code directory}. */
    public static LeakProbe of(Path directory) {
        return new LeakProbe(new TckSubject() {
            @Override
            public String backend() {
                return "host";
            }

            @Override
            public TransferPath path() {
                return TransferPath.HOST;
            }

            @Override
            public Path folder() {
                return directory;
            }

            @Override
            public Map<String, Long> live() {
                return Map.of("slabs", Slabs.shared().liveSlabs(), "leases", LiveLeases.count());
            }
        });
    }
}
