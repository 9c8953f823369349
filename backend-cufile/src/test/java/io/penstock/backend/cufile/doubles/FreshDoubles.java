// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.doubles;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Resets the doubles before each test, and fails one that they complain about. Skips where they cannot be built. */
public final class FreshDoubles implements BeforeEachCallback, AfterEachCallback {

    @Override
    public void beforeEach(ExtensionContext context) {
        Doubles.require();
        Doubles.reset();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        // Without the compiler the test was skipped before it began.
        if (context.getExecutionException().isEmpty()) {
            assertThat(Doubles.complaint())
                    .as("what the doubles complain about")
                    .isEmpty();
        }
    }
}
