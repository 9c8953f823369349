// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Options;
import io.penstock.backend.dx11.device.Dx11Device;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** The thread of a device, which everything on the device needs. */
class DeviceThreadTest {

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
