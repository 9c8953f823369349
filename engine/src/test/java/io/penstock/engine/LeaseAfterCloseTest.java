// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.CommonOptions;
import io.penstock.HostLease;
import io.penstock.Options;
import io.penstock.StreamPlan;
import io.penstock.engine.spi.Limits;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;

/** What a backend that is closed does with memory that is still lent: nothing, until it comes back (rule 202). */
class LeaseAfterCloseTest {

    @Test
    void required_202_closingTheBackendFreesNoMemoryThatIsStillLent() {
        FakeDevice device = new FakeDevice(Limits.none(1 << 20));
        Path path = Path.of("data");
        device.files.put(path, device.new MemoryFile(new byte[100]));
        Options options = Options.none().resolve(CommonOptions.all());
        Backend backend = Engine.open("fake", device, List.of(device), options);
        HostLease lease = backend.stream(StreamPlan.of(path).depth(1), chunk -> Mono.just(chunk.retain()))
                .blockLast();
        backend.close();
        assertThat(device.freed).as("freed while somebody may read it").hasValue(0);
        lease.close();
        assertThat(device.freed).hasValue(device.allocated.get());
    }
}
