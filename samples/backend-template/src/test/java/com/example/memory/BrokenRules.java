// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;

/** The rules, held against the broken backend; {@link BrokenBackendTest} runs them. */
@EnabledIfSystemProperty(named = Fault.PROPERTY, matches = ".*")
class BrokenRules implements BackendRules {

    @Override
    public TckSubject subject() {
        return new MemorySubject(BrokenProvider.NAME);
    }
}
