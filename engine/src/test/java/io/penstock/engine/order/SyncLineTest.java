// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.order;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class SyncLineTest {
    private final SyncLine line = new SyncLine();
    private final List<String> started = new ArrayList<>();

    @Test
    void aSyncStartsWhenTheOneBeforeItHasEnded() {
        line.enter(() -> started.add("first"));
        line.enter(() -> started.add("second"));
        line.enter(() -> started.add("third"));
        assertThat(started).containsExactly("first");
        line.ended();
        assertThat(started).containsExactly("first", "second");
        line.ended();
        line.ended();
        line.enter(() -> started.add("fourth"));
        assertThat(started).containsExactly("first", "second", "third", "fourth");
    }
}
