// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.BackendUnavailableException;
import io.penstock.Options;
import io.penstock.engine.spi.NativeQueue;
import io.penstock.engine.spi.ffi.Errno;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

class HostRouteTest {
    private final ScriptedKernel kernel = new ScriptedKernel();
    private final Slabs slabs = new Slabs();

    @BeforeAll
    static void onAKernelWithRings() {
        RingFixture.assumeRing();
    }

    @Test
    void theRingIsTheFirstChoice() {
        HostRoute route = HostRoute.open(Options.none(), slabs, kernel);
        assertThat(route.reason()).isEmpty();
        assertThat(queue(route)).isEqualTo(UringQueue.class);
        assertThat(route.lanes()).isBetween(1, 4);
    }

    @Test
    void theFallbackSaysWhyAndWhatWouldHelp() {
        kernel.setupAnswer = -Errno.EPERM;
        kernel.disabled = 2;
        HostRoute route = HostRoute.open(Options.none(), slabs, kernel);
        assertThat(route.reason()).contains("FORBIDDEN_BY_SYSCTL", "io_uring_setup -> EPERM (1)");
        assertThat(route.remedy()).contains("io_uring_disabled=0");
        assertThat(queue(route)).isEqualTo(ChannelQueue.class);
        assertThatThrownBy(() -> HostRoute.open(Options.none().with(HostOptions.IO, HostIo.URING), slabs, kernel))
                .isInstanceOf(BackendUnavailableException.class)
                .hasMessageContaining("penstock.host.io=uring")
                .hasMessageContaining("EPERM");
    }

    @Test
    void aChosenPoolNeedsNoExcuse() {
        HostRoute route = HostRoute.open(Options.none().with(HostOptions.IO, HostIo.POOL), slabs, kernel);
        assertThat(route.reason()).isEmpty();
        assertThat(queue(route)).isEqualTo(ChannelQueue.class);
        assertThat(kernel.opened).isZero();
    }

    @Test
    void equalSettingsShareLanes() {
        Options other = Options.none().with(HostOptions.LANES, 7);
        HostRoute route = HostRoute.open(Options.none(), slabs, kernel);
        assertThat(route.sharing())
                .isEqualTo(HostRoute.open(Options.none(), new Slabs(), kernel).sharing());
        assertThat(route.sharing())
                .isNotEqualTo(HostRoute.open(other, slabs, kernel).sharing());
    }

    private static Class<?> queue(HostRoute route) {
        NativeQueue queue = route.openQueue();
        queue.close();
        return queue.getClass();
    }
}
