// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.FileOption;
import io.penstock.engine.host.file.ChannelFile;
import io.penstock.engine.kit.memory.Slab;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.spi.Request;
import io.penstock.engine.testing.Requests;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** The causes of the failed calls of a queue of channels, when all have failed before the first is read. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailureCausesTest {

    private static final int COMMANDS = 1500; // more than any ring of recent exceptions held

    @TempDir
    Path folder;

    @Test
    void required_401_eachOfManyFailuresKeepsItsOwnCause() throws IOException {
        Slabs slabs = new Slabs(true);
        Slab memory = slabs.allocate(4096);
        ChannelFile file =
                ChannelFile.open(Files.write(folder.resolve("file"), new byte[10]), Set.of(FileOption.READ), 4096);
        ChannelQueue queue = new ChannelQueue(COMMANDS, 1);
        Requests requests = new Requests();
        for (int tag = 0; tag < COMMANDS; tag++) { // outside the memory, each somewhere else
            queue.enqueue(requests.next(tag).file(Request.Kind.READ, file, 0, 1).memory(memory, 1_000_000 + tag));
        }
        while (requests.ended() < COMMANDS) {
            queue.turn(-1);
        }
        for (int tag = 0; tag < COMMANDS; tag++) {
            assertThat(requests.failure(tag).orElseThrow().error().symbol()).contains("" + (1_000_000 + tag));
        }
        queue.close();
        file.close();
        memory.free();
        slabs.close();
    }
}
