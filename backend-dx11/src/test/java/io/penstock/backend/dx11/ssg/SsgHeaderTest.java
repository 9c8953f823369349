// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.dx11.Dx11Options;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the manual does not print: wanted from the user, and read as he writes it. */
class SsgHeaderTest {

    private static final String WORDS = "interface=0x7001 read=0x100 write=512 handle=4 region.size=4 region.buffer=4"
            + " region.file=8 info.block=4 info.file=8 version.build=8 version.minor=4 version.major=4";

    private static Options options(String text) {
        return Options.none().with(Dx11Options.SSG_HEADER, text).resolve(Backends.options());
    }

    private static SsgHeader header(String text) {
        return SsgHeader.of(options(text));
    }

    @Test
    void nothingThatTheManualDoesNotPrintHasADefault() {
        assertThat(Dx11Ssg.whyNot(Options.none().resolve(Backends.options())))
                .contains("penstock.dx11.ssg.header", "no SSG");
        assertThat(Dx11Ssg.whyNot(options(" "))).contains("no SSG");
        assertThat(Dx11Ssg.whyNot(options(WORDS))).isEmpty();
    }

    @Test
    void eachOfThemIsMissed() {
        for (String word : WORDS.split(" ")) {
            String others = Arrays.stream(WORDS.split(" "))
                    .filter(other -> !other.equals(word))
                    .collect(Collectors.joining(" "));
            assertThatThrownBy(() -> header(others))
                    .isInstanceOf(IllegalArgumentException.class)
                    .hasMessageContaining("penstock.dx11.ssg.header=")
                    .hasMessageEndingWith("it lacks [" + word.replaceFirst("=.*", "") + "]");
        }
    }

    @Test
    void theyAreReadAsTheyAreWritten() {
        SsgHeader header = header("\n" + WORDS.replace(" ", "\n  "));
        assertThat(header.number("interface")).isEqualTo(0x7001);
        assertThat(header.number("read")).isEqualTo(0x100);
        assertThat(header.number("write")).isEqualTo(0x200);
        assertThat(header.handle()).isEqualTo(new SsgHeader.Field(0, 4));
        assertThat(header.bytes("region")).isEqualTo(16);
        assertThat(header.field("region", "buffer")).isEqualTo(new SsgHeader.Field(4, 4));
        assertThat(header.field("info", "file").get(new byte[] {0, 16, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0}))
                .isEqualTo(0x1_0000_0007L);
    }

    @Test
    void fieldsAreAlignedAndStructuresAreAsLongAsCHasThem() {
        SsgHeader header = header(WORDS.replace("info.block=4 info.file=8", "info.file=8 info.name=3 info.block=4")
                .replace("region.size=4", "region.flags=4 region.size=8"));
        assertThat(header.field("info", "block")).isEqualTo(new SsgHeader.Field(12, 4));
        assertThat(header.bytes("info")).isEqualTo(16);
        assertThat(header.field("region", "size")).isEqualTo(new SsgHeader.Field(8, 8));
        assertThat(header.field("region", "buffer")).isEqualTo(new SsgHeader.Field(16, 4));
        assertThat(header.field("region", "file")).isEqualTo(new SsgHeader.Field(24, 8));
        assertThat(header.bytes("region")).isEqualTo(32);
        assertThat(header(WORDS.replace("info.block=4 info.file=8", "info.file=8 info.block=4"))
                        .bytes("info"))
                .as("with what C puts behind the last field, which the driver may write")
                .isEqualTo(16);
    }

    @Test
    void fieldsAreWrittenWhereTheyLie() {
        SsgHeader header = header(WORDS);
        ByteBuffer memory = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
        header.field("region", "size").put(memory, 16, 0xffff_f000L);
        header.field("region", "file").put(memory, 16, 1L << 40);
        assertThat(header.field("region", "size").get(memory, 16)).isEqualTo(0xffff_f000L);
        assertThat(header.field("region", "file").get(memory, 16)).isEqualTo(1L << 40);
        assertThat(header.field("region", "buffer").get(memory, 16)).isZero();
        assertThat(header.field("region", "size").holds(1L << 32)).isFalse();
        assertThat(header.field("region", "file").holds(1L << 32)).isTrue();
    }

    @Test
    void offsetsThatHaveNoRoomAreRefused() {
        SsgHeader header = header(WORDS.replace("region.file=8", "region.file=4"));
        assertThat(header.refusal(0xffff_ffffL)).isEmpty();
        assertThat(header.refusal(1L << 32)).contains("penstock.dx11.ssg.header", "32 bits", "4294967296");
        assertThat(header(WORDS).refusal(1L << 60)).isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "handle=8",
                "handle",
                WORDS + " handle=8",
                WORDS + " read=1",
                WORDS + " write",
                WORDS + " reads=1",
                WORDS + " info.name=0",
                WORDS + " info.name=-1",
                WORDS + " info.name=x",
                WORDS + " info.name=257"
            })
    void aHeaderThatCannotBeIsTheCallersMistakeAndNamed(String text) {
        assertThatThrownBy(() -> header(text))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.dx11.ssg.header=");
    }

    @ParameterizedTest
    @ValueSource(strings = {"handle=6", "region.size=2", "version.build=16"})
    void aFieldOfAnotherWidthIsTheCallersMistake(String word) {
        String name = word.replaceFirst("=.*", "=");
        assertThatThrownBy(() -> header(WORDS.replaceFirst(name + "\\d+", word)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("'" + word + "' must be", "4 or 8 for a field");
    }

    @Test
    void aNumberThatIsNoneIsTheCallersMistake() {
        assertThatThrownBy(() -> header(WORDS.replace("interface=0x7001", "interface=0x100000000")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContainingAll("'interface=0x100000000'", "32 bits");
    }
}
