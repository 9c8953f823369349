// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;

/** The base of all rule interfaces: they test one subject, and leave nothing behind. */
@ExtendWith(BenchExtension.class)
@Timeout(120)
public interface Rules {

    /** Returns the backend under test; called once per test. */
    TckSubject subject();
}
