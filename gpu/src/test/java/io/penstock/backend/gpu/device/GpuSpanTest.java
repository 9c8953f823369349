// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gpu.device;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;

/** What is kept beside an allocation ends before the memory does, whenever it was attached. */
class GpuSpanTest {

    private static final class Kept implements GpuSpan.Attachment {
        int ends;

        @Override
        public void end() {
            ends++;
        }
    }

    private final GpuSpan span = new GpuSpan(null, 4096, 8192);

    private Kept kept() {
        return span.attachment(Kept.class, attached -> new Kept());
    }

    @Test
    void anAttachmentIsMadeOnceAndEndsWithTheMemory() {
        Kept kept = kept();
        assertThat(kept()).isSameAs(kept);
        assertThat(kept.ends).isZero();
        span.end();
        assertThat(kept.ends).isEqualTo(1);
        assertThat(kept()).isSameAs(kept);
    }

    @Test
    void anAttachmentToFreedMemoryIsEndedAtOnce() {
        span.end();
        assertThat(kept().ends).isEqualTo(1);
    }
}
