// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.tck.Require;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The buffers of an exporter, for which readers wait. */
class StagingTest {

    private Backend backend;
    private Staging staging;

    @BeforeEach
    void open() throws IOException {
        Require.backend("ucx", UcxContext.unavailable());
        backend = Backends.open("host");
        staging = Staging.open(backend);
    }

    @AfterEach
    void close() {
        if (staging != null) {
            staging.close();
            backend.close(); // which reports what is still allocated
        }
    }

    private ArrayDeque<Staging.StagingBuffer> takeAll() {
        ArrayDeque<Staging.StagingBuffer> taken = new ArrayDeque<>();
        for (int buffer = 0; buffer < 8; buffer++) {
            staging.take(taken::add);
        }
        assertThat(taken).hasSize(8);
        return taken;
    }

    /** As reads do that fail at once, because their file is closed for instance. */
    @Test
    void manyThatFreeTheirBufferAtOnceDoNotCallOneAnother() {
        ArrayDeque<Staging.StagingBuffer> taken = takeAll();
        int[] served = new int[1];
        for (int i = 0; i < 100_000; i++) {
            staging.take(buffer -> {
                served[0]++;
                buffer.free();
            });
        }
        taken.remove().free();
        assertThat(served[0]).isEqualTo(100_000);
        taken.forEach(Staging.StagingBuffer::free);
    }

    @Test
    void thoseThatWaitAreServedInTheirOrder() {
        ArrayDeque<Staging.StagingBuffer> taken = takeAll();
        List<Integer> served = new ArrayList<>();
        List<Staging.StagingBuffer> buffers = new ArrayList<>();
        for (int i = 0; i < 3; i++) {
            int number = i;
            staging.take(buffer -> {
                served.add(number);
                buffers.add(buffer);
            });
        }
        assertThat(served).isEmpty();
        taken.remove().free();
        taken.remove().free();
        assertThat(served).containsExactly(0, 1);
        taken.forEach(Staging.StagingBuffer::free);
        assertThat(served).containsExactly(0, 1, 2);
        buffers.forEach(Staging.StagingBuffer::free);
    }

    @Test
    void thoseThatWaitAtTheCloseGetNone() {
        ArrayDeque<Staging.StagingBuffer> taken = takeAll();
        List<Boolean> served = new ArrayList<>();
        staging.take(buffer -> served.add(buffer != null));
        staging.close();
        staging.take(buffer -> served.add(buffer != null));
        assertThat(served).containsExactly(false, false);
        taken.forEach(Staging.StagingBuffer::free);
    }
}
