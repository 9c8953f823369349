// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.TransferPath;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The rules, held against the backend as its author would; {@code ThirdPartyTest} runs them. */
@EnabledIfSystemProperty(named = MemoryRules.FAULT, matches = ".*")
class MemoryRules implements BackendRules {

    static final String FAULT = "com.example.memory.fault";

    @Override
    public TckSubject subject() {
        return new TckSubject() {
            @Override
            public String backend() {
                return "memory";
            }

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
        };
    }
}
