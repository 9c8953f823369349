// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.fakes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/** Resets the fakes before each test, and fails one that they complain about. Skips where they cannot be built. */
public final class FreshFakes implements BeforeEachCallback, AfterEachCallback {

    @Override
    public void beforeEach(ExtensionContext context) {
        Fakes.require();
        Fakes.reset();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        // Without the compiler the test was skipped before it began.
        if (context.getExecutionException().isEmpty()) {
            assertThat(Fakes.complaint()).as("what the fakes complain about").isEmpty();
        }
    }
}
