// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Reads that wait for their turn in the one response. */
class InOrderTest {

    /** The second read is added while the thread of the first is started, and relies on it. */
    @Test
    void aThreadThatCannotBeStartedFailsAllReadsThatRelyOnIt() {
        List<String> ended = new ArrayList<>();
        try (InOrder inOrder = new InOrder()) {
            inOrder.add(0, () -> ended.add("first ran"), e -> ended.add("first: " + e.getMessage()), serving -> {
                inOrder.add(
                        4, () -> ended.add("second ran"), e -> ended.add("second: " + e.getMessage()), Runnable::run);
                throw new OutOfMemoryError("no thread");
            });
            assertThat(ended).containsExactlyInAnyOrder("first: no thread", "second: no thread");
            inOrder.add(0, () -> ended.add("third ran"), e -> ended.add("third: " + e.getMessage()), Runnable::run);
            assertThat(ended).hasSize(3).contains("third ran");
        }
    }
}
