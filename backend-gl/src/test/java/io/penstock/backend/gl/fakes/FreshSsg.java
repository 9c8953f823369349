// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.fakes;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;

/**
 * Gives each test an SSG of its own, and fails one that the fake complains about or that leaves something behind. Skips
 * where the fake cannot be built.
 */
public final class FreshSsg implements BeforeEachCallback, AfterEachCallback {

    private static final List<String> KINDS = List.of("files", "syncs", "operations", "visible_bytes");

    @Override
    public void beforeEach(ExtensionContext context) {
        SsgFake.control().reset();
    }

    @Override
    public void afterEach(ExtensionContext context) {
        // Without the compiler the test was skipped before it began.
        if (context.getExecutionException().isEmpty()) {
            assertNothingLeft();
        }
        SsgFake.control().reset();
    }

    /** Fails if the fake complains, or if something is left that was made since the reset. */
    public static void assertNothingLeft() {
        assertThat(SsgFake.complaint()).as("what the fake complains about").isEmpty();
        Map<String, Long> left = new LinkedHashMap<>();
        for (String kind : KINDS) {
            long count = SsgFake.control().awaitLive(kind, 0);
            if (count != 0) {
                left.put(kind, count);
            }
        }
        assertThat(left).as("what is left").isEmpty();
    }
}
