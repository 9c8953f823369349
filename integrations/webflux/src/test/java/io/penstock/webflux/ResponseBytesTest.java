// SPDX-License-Identifier: Apache-2.0
package io.penstock.webflux;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.springframework.core.io.buffer.DataBuffer;
import reactor.test.publisher.TestPublisher;

class ResponseBytesTest {

    private final TestPublisher<DataBuffer> open = TestPublisher.create();
    private final TestPublisher<DataBuffer> late = TestPublisher.create();
    private final ResponseBytes sent = new ResponseBytes(open.flux(), late.flux());

    /**
     * A decorated response may subscribe twice. The file that is open is closed when the first subscriber has ended.
     */
    @Test
    void aFurtherSubscriberReadsAFileOfItsOwn() {
        var first = sent.bytes().subscribe();
        CompletableFuture<Void> over = sent.over().toFuture();
        late.assertWasNotSubscribed();
        sent.bytes().subscribe();
        late.assertWasSubscribed();
        assertThat(over).isNotDone();
        first.dispose();
        assertThat(over).isCompleted();
        late.assertNotCancelled();
    }

    @Test
    void aSubscriberAfterTheResponseReadsAFileOfItsOwn() {
        assertThat(sent.over().toFuture()).isCompleted();
        sent.bytes().subscribe();
        late.assertWasSubscribed();
        open.assertWasNotSubscribed();
    }
}
