// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.BackendUnavailableException;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.IoPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PathTableTest {

    private enum Way {
        AUTO,
        FAST,
        SAFE
    }

    private static final Option<Way> WAY = Option.choice("penstock.test.way", Way.class, Way.AUTO, "a path");

    private final List<String> made = new ArrayList<>();
    private String reason = "";

    private IoPath path(String name) {
        made.add(name);
        return HostPath.open(Options.none(), Slabs.shared());
    }

    private List<IoPath> open(Way way, String whyNotFast) {
        PathTable<Way> table = new PathTable<>(WAY, Options.none().with(WAY, way));
        table.row(
                Set.of(Way.AUTO, Way.FAST),
                () -> whyNotFast,
                "the fast path does not take it",
                () -> List.of(path("fast"), path("faster")));
        table.row(Set.of(Way.AUTO), () -> "", "", () -> List.of(path("other")));
        return table.open(why -> {
            reason = why;
            return path("last");
        });
    }

    @Test
    void theDefaultTakesWhatIsAvailableAndTheBestIsMadeLast() {
        assertThat(open(Way.AUTO, "")).hasSize(4);
        assertThat(made).containsExactly("last", "other", "fast", "faster");
        assertThat(reason).isEqualTo("the fast path does not take it");
    }

    @Test
    void theDefaultSaysWhyAPathIsNotAvailable() {
        assertThat(open(Way.AUTO, "it is slow here")).hasSize(2);
        assertThat(made).containsExactly("last", "other");
        assertThat(reason).isEqualTo("it is slow here");
    }

    @Test
    void aPathThatIsAskedForMustBeAvailable() {
        assertThat(open(Way.FAST, "")).hasSize(3);
        assertThatThrownBy(() -> open(Way.FAST, "it is slow here"))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessage("penstock.test.way=fast, but it is slow here");
    }

    @Test
    void aValueWithoutPathsOfItsOwnIsTheReason() {
        assertThat(open(Way.SAFE, "it is slow here")).hasSize(1);
        assertThat(reason).isEqualTo("penstock.test.way=safe");
    }
}
