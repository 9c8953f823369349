// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.hip;

import io.penstock.engine.testing.PageTests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/** Holds docs/vendors/hip.md to its word: the tests that it names exist. */
class HipPageTest {

    @Test
    void everyTestThatThePageNamesExists() throws IOException {
        String page = Files.readString(Path.of("..", "docs", "vendors", "hip.md"));
        PageTests.assertExist(page, getClass().getPackageName());
    }
}
