// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Option;
import io.penstock.Options;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What the manual does not print: wanted from the user, and read as he writes it. */
class SsgTermsTest {

    private static final List<Option<String>> NEEDED = List.of(
            Dx11Options.SSG_INTERFACE,
            Dx11Options.SSG_READ_ACCESS,
            Dx11Options.SSG_WRITE_ACCESS,
            Dx11Options.SSG_LAYOUT);

    @Test
    void nothingThatTheManualDoesNotPrintHasADefault() {
        assertThat(SsgTerms.missing(Dx11s.resolved(Options.none()))).isEqualTo(NEEDED);
        assertThat(Dx11Routes.whyNot(Dx11s.resolved(Options.none()))).contains("penstock.dx11.ssg.layout", "no SSG");
    }

    @Test
    void eachOfThemIsMissed() {
        for (Option<String> option : NEEDED) {
            Options options = Dx11s.resolved(SsgDouble.options(1).with(option, " "));
            assertThat(SsgTerms.missing(options)).containsExactly(option);
        }
        assertThat(SsgTerms.missing(Dx11s.resolved(SsgDouble.options(1)))).isEmpty();
    }

    @Test
    void theyAreReadAsTheyAreWritten() {
        SsgTerms terms = SsgTerms.of(Dx11s.resolved(SsgDouble.options(2)));
        assertThat(terms.interfaceId()).isEqualTo(0x7001);
        assertThat(terms.readAccess()).isEqualTo(0x100);
        assertThat(terms.writeAccess()).isEqualTo(0x200);
        SsgLayout layout = terms.layout();
        assertThat(layout.handleBytes()).isEqualTo(4);
        assertThat(layout.region().bytes()).isEqualTo(16);
        assertThat(layout.region().field("buffer")).isEqualTo(new SsgLayout.Field(4, 4));
        assertThat(layout.info().get(new byte[] {0, 16, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 1, 0, 0, 0}, "file"))
                .isEqualTo(0x1_0000_0007L);
    }

    @Test
    void fieldsAreWrittenWhereTheyLie() {
        SsgLayout.Shape region =
                SsgTerms.of(Dx11s.resolved(SsgDouble.options(2))).layout().region();
        ByteBuffer memory = ByteBuffer.allocate(32).order(ByteOrder.nativeOrder());
        region.put(memory, 16, region.field("size"), 0xffff_f000L);
        region.put(memory, 16, region.field("file"), 1L << 40);
        assertThat(region.get(memory, 16, "size")).isEqualTo(0xffff_f000L);
        assertThat(region.get(memory, 16, "file")).isEqualTo(1L << 40);
        assertThat(region.get(memory, 16, "buffer")).isZero();
        assertThat(region.field("size").holds(1L << 32)).isFalse();
        assertThat(region.field("file").holds(1L << 32)).isTrue();
    }

    @Test
    void offsetsThatHaveNoRoomAreRefused() {
        String narrow = "handle=8 version=12:major@0/4,minor@4/4,build@8/4 info=16:file@0/8,block@8/4"
                + " region=12:file@0/4,buffer@4/4,size@8/4";
        SsgLayout layout = SsgLayout.parse(narrow);
        assertThat(layout.refusal(0xffff_ffffL)).isEmpty();
        assertThat(layout.refusal(1L << 32)).contains("penstock.dx11.ssg.layout", "32 bits", "4294967296");
        assertThat(SsgTerms.of(Dx11s.resolved(SsgDouble.options(2))).layout().refusal(1L << 60))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "handle=8",
                "handle=6 version=12:major@0/4,minor@4/4,build@8/4 info=12:file@0/8,block@8/4 region=24:file@0/8,buffer@8/8,size@16/8",
                "handle=8 version=12:major@0/4,minor@4/4 info=12:file@0/8,block@8/4 region=24:file@0/8,buffer@8/8,size@16/8",
                "handle=8 version=12:major@0/4,minor@4/4,build@9/4 info=12:file@0/8,block@8/4 region=24:file@0/8,buffer@8/8,size@16/8",
                "handle=8 version=12:major@0/2,minor@4/4,build@8/4 info=12:file@0/8,block@8/4 region=24:file@0/8,buffer@8/8,size@16/8",
                "handle=8 version=12 info=12:file@0/8,block@8/4 region=24:file@0/8,buffer@8/8,size@16/8",
                "handle=8 version=12:major,minor@4/4,build@8/4 info=12:file@0/8,block@8/4 region=x"
            })
    void aLayoutThatCannotBeIsTheCallersMistakeAndNamed(String text) {
        Options options = Dx11s.resolved(SsgDouble.options(1).with(Dx11Options.SSG_LAYOUT, text));
        assertThatThrownBy(() -> SsgTerms.of(options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.dx11.ssg.layout=");
    }

    @Test
    void aNumberThatIsNoneIsTheCallersMistake() {
        Options options = Dx11s.resolved(SsgDouble.options(1).with(Dx11Options.SSG_INTERFACE, "0x100000000"));
        assertThatThrownBy(() -> SsgTerms.of(options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("penstock.dx11.ssg.interface=0x100000000", "32 bits");
    }
}
