// SPDX-License-Identifier: Apache-2.0
package io.penstock.netty.http;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;

class FileVersionTest {

    private static final Instant MODIFIED = Instant.parse("2020-02-02T02:02:02.5Z");
    private static final Instant DATE = Instant.parse("2020-02-02T02:02:02Z");
    private static final Instant LATER = DATE.plusSeconds(100);

    private final FileVersion version = FileVersion.of("a file", MODIFIED);

    @Test
    void theTagIsStrongAndTellsNothing() {
        assertThat(version.entityTag()).matches("\"[0-9a-f]{32}\"");
        assertThat(version.lastModified()).isEqualTo(DATE);
        assertThat(FileVersion.of("another", MODIFIED).entityTag()).isNotEqualTo(version.entityTag());
    }

    @Test
    void aListHasATagAsItIs() {
        String tag = version.entityTag();
        for (String listing : List.of(tag, "*", " * ", "\"a\", " + tag, "\"a\",," + tag)) {
            assertThat(version.isListed(List.of(listing), false)).as(listing).isTrue();
        }
        for (String other : List.of("", "\"a\"", "a", "W/" + tag, "\"a, " + tag)) {
            assertThat(version.isListed(List.of(other), false)).as(other).isFalse();
        }
        assertThat(version.isListed(List.of("W/" + tag), true)).isTrue();
        assertThat(version.isListed(List.of("\"a\"", tag), false)).isTrue();
    }

    @Test
    void rangesAreOfTheVersionThatTheClientHas() {
        assertThat(version.rangeApplies(null, null, LATER)).isTrue();
        assertThat(version.rangeApplies(version.entityTag(), null, LATER)).isTrue();
        assertThat(version.rangeApplies("\"a\"", null, LATER)).isFalse();
        assertThat(version.rangeApplies("W/" + version.entityTag(), null, LATER))
                .isFalse();
        assertThat(version.rangeApplies("yesterday", null, LATER)).isFalse();
        assertThat(version.rangeApplies("a date", DATE, LATER)).isTrue();
        assertThat(version.rangeApplies("a date", DATE.plusSeconds(1), LATER)).isFalse();
    }

    @Test
    void aDateOfTheLastSecondIsNoStrongValidator() {
        assertThat(version.rangeApplies("a date", DATE, DATE.plusMillis(999))).isFalse();
        assertThat(version.rangeApplies("a date", DATE, DATE.plusSeconds(1))).isFalse();
        assertThat(version.rangeApplies("a date", DATE, DATE.plusMillis(1001))).isTrue();
    }
}
