// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;

/** The same rules for copies that end later. */
class QueuedTckTest implements BackendRules {

    @Override
    public TckSubject subject() {
        return new MemorySubject("memory-queued");
    }
}
