// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.TransferPath;
import io.penstock.tck.TckSubject;
import java.nio.file.Path;
import java.util.Map;

/** What the rules need to know of a backend over {@link HeapMemory}. */
record MemorySubject(String backend) implements TckSubject {

    @Override
    public TransferPath path() {
        return TransferPath.STAGED;
    }

    @Override
    public Path folder() {
        return Path.of("target", "tck");
    }

    @Override
    public Map<String, Long> live() {
        return Map.of("heap memory", HeapMemory.LIVE.get());
    }
}
