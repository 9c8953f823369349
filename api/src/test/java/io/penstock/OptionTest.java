// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class OptionTest {

    private static final Option<Integer> NUMBER = Option.integer("penstock.test.number", 5, 1, 10, "a number");
    private static final Option<Long> BYTES =
            Option.bytes("penstock.test.segment-bytes", 1L << 20, 4096, 1L << 30, "some bytes");
    private static final Option<Duration> TIME =
            Option.duration("penstock.test.time", Duration.ofSeconds(10), Duration.ZERO, "some time");
    private static final Option<String> HANDLE =
            Option.handle("penstock.test.handle", List.of("own", "current"), "a cl_context", "a handle");
    private static final Option<Boolean> FLAG = Option.flag("penstock.test.flag", true, "a flag");
    private static final Option<StandardOpenOption> CHOICE =
            Option.choice("penstock.test.choice", StandardOpenOption.class, StandardOpenOption.READ, "a choice");

    @Test
    void theVariableIsTheNameInCapitals() {
        assertThat(BYTES.variable()).isEqualTo("PENSTOCK_TEST_SEGMENT_BYTES");
    }

    @Test
    void everyNameStartsWithPenstock() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.flag("test.flag", true, "a flag"))
                .withMessageContaining("test.flag");
    }

    @ParameterizedTest
    @ValueSource(strings = {"own", "current", "0x7f12", "32530"})
    void aHandleIsAWordOrAnAddress(String text) {
        assertThat(HANDLE.fallback()).isEqualTo("own");
        assertThat(HANDLE.parse(' ' + text, "a test")).isEqualTo(text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"owns", "", "0", "-1", "0x", "0xffffffffffffffff"})
    void otherHandlesAreRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> HANDLE.parse(text, "a test"))
                .withMessage("a test sets penstock.test.handle=" + text
                        + ", but it must be own, current, or the address of a cl_context such as 0x7f12 (a handle)");
    }

    /** The numbers are least, most and default in this order by mistake. */
    @Test
    void aDefaultOutOfRangeIsRefusedAtOnce() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.integer("penstock.test.wrong", 0, 1_000_000, 0, "a number"))
                .withMessage("the default sets penstock.test.wrong=0, but it must be 1000000 to 0 (a number)");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.bytes("penstock.test.wrong", 1 << 20, 0, 4096, "some bytes"))
                .withMessageContaining("penstock.test.wrong=1MiB, but it must be 0 to 4KiB");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> Option.duration(
                        "penstock.test.wrong", Duration.ofMillis(1), Duration.ofSeconds(1), "some time"))
                .withMessageContaining("at least 1s");
    }

    @Test
    void rangesAreReadable() {
        assertThat(NUMBER.range()).isEqualTo("1 to 10");
        assertThat(BYTES.range()).isEqualTo("4KiB to 1GiB");
        assertThat(FLAG.range()).isEqualTo("true or false");
        assertThat(CHOICE.range()).startsWith("read, write, append, truncate-existing, create, ");
    }

    @ParameterizedTest
    @CsvSource({"4096, 4096", "4KiB, 4096", "8 MiB, 8388608", "8m, 8388608", "8MB, 8388608", "1GiB, 1073741824"})
    void bytesTakeUnits(String text, long bytes) {
        assertThat(BYTES.parse(text, "a test")).isEqualTo(bytes);
    }

    @ParameterizedTest
    @ValueSource(strings = {"4095", "1025MiB", "-1", "", "MiB", "4KiBi", "9999999999GiB", "0x1000", "4.5MiB"})
    void bytesOutOfRangeOrNotAtAllAreRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> BYTES.parse(text, "the system property"))
                .withMessage("the system property sets penstock.test.segment-bytes=" + text
                        + ", but it must be 4KiB to 1GiB (some bytes)");
    }

    @ParameterizedTest
    @CsvSource({"10s, PT10S", "250ms, PT0.25S", "PT1M, PT1M", "pt0.5s, PT0.5S", "0s, PT0S"})
    void timesTakeUnits(String text, Duration time) {
        assertThat(TIME.parse(text, "a test")).isEqualTo(time);
    }

    @ParameterizedTest
    @ValueSource(strings = {"10", "-1s", "PT-1S", "s", "10 minutes", "", "99999999999999999999s", "P"})
    void timesThatAreNoneAreRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> TIME.parse(text, "a test"))
                .withMessageContaining("penstock.test.time=" + text);
    }

    @ParameterizedTest
    @ValueSource(strings = {"0", "11", "five", "", "5.0", "99999999999"})
    void numbersOutOfRangeOrNotAtAllAreRefused(String text) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> NUMBER.parse(text, "a test"))
                .withMessageContaining("penstock.test.number=" + text)
                .withMessageContaining("1 to 10");
    }

    @Test
    void boundsAreInside() {
        assertThat(NUMBER.parse("1", "a test")).isEqualTo(1);
        assertThat(NUMBER.parse(" 10 ", "a test")).isEqualTo(10);
    }

    @ParameterizedTest
    @ValueSource(strings = {"yes", "1", "TRUE false", "truE1", ""})
    void flagsAreTrueOrFalse(String text) {
        assertThat(FLAG.parse("false", "a test")).isFalse();
        assertThatIllegalArgumentException()
                .isThrownBy(() -> FLAG.parse(text, "a test"))
                .withMessageContaining("true or false");
    }

    @ParameterizedTest
    @CsvSource({"TRUE, true", "True, true", "FALSE, false", " False , false"})
    void flagsIgnoreCase(String text, boolean value) {
        assertThat(FLAG.parse(text, "a test")).isEqualTo(value);
    }

    @Test
    void choicesAreWrittenInLowerCaseWithHyphens() {
        assertThat(CHOICE.parse("truncate-existing", "a test")).isEqualTo(StandardOpenOption.TRUNCATE_EXISTING);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> CHOICE.parse("nope", "a test"))
                .withMessageContaining("penstock.test.choice=nope")
                .withMessageContaining("truncate-existing");
    }

    @Test
    void aTimeHasALeastValueAndALengthInNanoseconds() {
        Option<Duration> some =
                Option.duration("penstock.test.some-time", Duration.ofSeconds(10), Duration.ofMillis(5), "some time");
        assertThat(some.range()).isEqualTo("a length of time of at least 5ms, such as 250ms or 10s");
        assertThat(some.parse("5ms", "a test")).isEqualTo(Duration.ofMillis(5));
        for (String text : List.of("4ms", "0s", "-10s", "9223372037s", "9223372036854775807ms")) {
            assertThatIllegalArgumentException()
                    .as(text)
                    .isThrownBy(() -> some.parse(text, "a test"))
                    .withMessageStartingWith("a test sets penstock.test.some-time=" + text);
        }
        assertThat(some.parse("9223372036s", "a test").toNanos()).isPositive();
    }

    @Test
    void shownValuesCanBeParsed() {
        for (Duration time : new Duration[] {
            Duration.ZERO,
            Duration.ofMillis(1),
            Duration.ofSeconds(90),
            Duration.ofNanos(1_500_000),
            Duration.ofNanos(7)
        }) {
            assertThat(TIME.parse(Option.show(time), "a test")).isEqualTo(time);
        }
        for (long bytes : new long[] {4096, 4097, 5 << 20, 1L << 30}) {
            assertThat(BYTES.parse(Option.show(bytes), "a test")).isEqualTo(bytes);
        }
        for (StandardOpenOption choice : StandardOpenOption.values()) {
            assertThat(CHOICE.parse(Option.show(choice), "a test")).isEqualTo(choice);
        }
    }
}
