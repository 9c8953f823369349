// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Capabilities;
import io.penstock.FenceSupport;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.spi.DeviceMemory;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

/** What this module adds to the engine's host I/O. */
class HostDriverTest {

    private static final Options POOL = Options.none().with(HostOptions.IO, HostIo.POOL);

    private final HostDriver driver = new HostDriver();
    private final HostProvider provider = new HostProvider();

    @Test
    void memoryOfNoBytesIsMemory() {
        DeviceMemory memory = driver.allocate(0);
        assertThat(memory.bytes()).isPositive();
        assertThat(memory.hostAddress()).isNotZero();
        memory.free();
    }

    @Test
    void memoryHasTheRequestedLength() {
        DeviceMemory memory = driver.allocate(12_345);
        assertThat(memory.bytes()).isEqualTo(12_345);
        memory.free();
    }

    @Test
    void theApplicationsMemoryIsWrappedWhereItIs() {
        ByteBuffer buffer = ByteBuffer.allocateDirect(100);
        DeviceMemory wrapped = driver.wrap(buffer);
        assertThat(wrapped.bytes()).isEqualTo(100);
        DeviceMemory again = driver.wrap(wrapped.hostAddress(), 50);
        assertThat(again.hostAddress()).isEqualTo(wrapped.hostAddress());
        assertThat(again.bytes()).isEqualTo(50);
    }

    @Test
    void memoryThatCannotBeWrappedIsTheCallersError() {
        assertThatThrownBy(() -> driver.wrap(0, 50)).isInstanceOf(IllegalArgumentException.class);
        assertThatThrownBy(() -> driver.fence(7)).isInstanceOf(IllegalArgumentException.class);
    }

    @Test
    void itsFencesAreTheHosts() {
        Capabilities capabilities = driver.capabilities();
        assertThat(capabilities.fences()).isEqualTo(FenceSupport.HOST_ONLY);
        assertThat(capabilities.paths()).containsExactly(TransferPath.HOST);
    }

    @Test
    void theProviderIsNeverTakenForThatOfAGpu() {
        assertThat(provider.name()).isEqualTo("host");
        assertThat(provider.gpuOrder()).isEqualTo(Integer.MAX_VALUE);
        assertThat(provider.options()).isEqualTo(HostOptions.all());
    }

    @Test
    void theProbeReportsWhatThePathDoes() {
        assertThat(provider.probe(POOL)).isEqualTo(HostPath.probe(POOL));
        assertThat(provider.probe(POOL).reason()).contains("blocking calls on threads");
    }

    @Test
    void theBackendIsOpenedByTheOptionsGiven() {
        try (Backend backend = provider.open(POOL)) {
            assertThat(backend.name()).isEqualTo("host");
        }
    }
}
