// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Options;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.engine.kit.LiveObjects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** The thread of a device, which everything on the device needs, and its end. */
class DeviceThreadTest {

    @Test
    void oneLeaveTooManyIsRefusedAndReleasesNothingASecondTime() {
        Dx11s.require();
        Dx11Device device = Dx11Device.open(Dx11s.resolved(Options.none()));
        AtomicInteger ends = new AtomicInteger();
        device.atEnd(ends::incrementAndGet);
        device.leave();
        long live = LiveObjects.count(Dx11Device.class);
        assertThatThrownBy(device::leave)
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("no user");
        assertThat(ends).hasValue(1);
        assertThat(LiveObjects.count(Dx11Device.class)).isEqualTo(live);
    }

    @Test
    void anErrorOutOfASubscriberOfAFenceEndsOnlyThat() throws InterruptedException {
        Dx11s.require();
        Dx11Device device = Dx11Device.open(Dx11s.resolved(Options.none()));
        CountDownLatch thrown = new CountDownLatch(1);
        device.executor().watch(() -> {
            thrown.countDown();
            throw new UnsatisfiedLinkError("out of a subscriber");
        });
        assertThat(thrown.await(30, TimeUnit.SECONDS)).isTrue();
        assertThat(device.executor().call("a call behind it", () -> 42)).isEqualTo(42);
        device.leave();
    }
}
