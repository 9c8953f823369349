// SPDX-License-Identifier: Apache-2.0
package com.example.memory;

import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;

/** The rules that every backend keeps. */
class MemoryTckTest implements BackendRules {

    @Override
    public TckSubject subject() {
        return new MemorySubject("memory");
    }
}
