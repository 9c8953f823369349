// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.DeviceLostException;
import io.penstock.Failure;
import io.penstock.Outcome;
import io.penstock.StreamPlan;
import io.penstock.engine.FakePort;
import io.penstock.engine.stream.FluxStream;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Mono;
import reactor.test.subscriber.TestSubscriber;

/** A stream over a queue that breaks: the device may still write to the buffers of what it was reading. */
class AbandonedChunkTest {

    private final FakePort port = new FakePort(1000);

    @Test
    void required_601_aBufferOfAnAbandonedReadIsNotReadIntoAgain() {
        StreamPlan plan = StreamPlan.of(port.file.region(950, 150), port.file.region(0, 300))
                .chunkBytes(100)
                .depth(2);
        TestSubscriber<Long> subscriber = TestSubscriber.create();
        new FluxStream<Long>(port, plan, chunk -> Mono.just(chunk.fileOffset())).subscribe(subscriber);
        port.manual.run();
        assertThat(port.open).hasSize(2);
        OpenTransfer behindTheEnd = port.open.remove(1);
        DeviceLostException lost = new DeviceLostException("the queue broke", new Failure(Outcome.UNKNOWN, null), null);
        behindTheEnd.abandon(lost);
        port.runAll();
        assertThat(port.buffers).allMatch(buffer -> buffer.closed);
        assertThat(subscriber.getReceivedOnNext()).startsWith(950L).doesNotContain(200L);
        assertThat(subscriber.expectTerminalError()).isSameAs(lost);
    }
}
