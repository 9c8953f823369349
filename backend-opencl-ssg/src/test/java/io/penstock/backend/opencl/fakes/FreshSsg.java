// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl.fakes;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives each test an SSG of its own, and fails one that the layer complains about or that leaves something behind.
 * Skips where the layer cannot be built.
 */
public final class FreshSsg implements BeforeEachCallback, AfterEachCallback {

    @Override
    public void beforeEach(ExtensionContext context) {
        SsgFake.reset();
        SsgFake.arm();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        // Without the compiler the test was skipped before it began.
        try {
            if (context.getExecutionException().isEmpty()) {
                assertNothingLeft();
            }
        } finally {
            SsgFake.reset();
        }
    }

    /** Fails if the layer complains, or if the application holds something that it made since the reset. */
    public static void assertNothingLeft() {
        assertThat(SsgFake.complaint()).as("what the layer complains about").isEmpty();
        assertThat(SsgFake.held()).as("what is left").isEmpty();
    }
}
