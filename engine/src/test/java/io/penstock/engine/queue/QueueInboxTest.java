// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.queue;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.PenstockException;
import io.penstock.engine.FakePort;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.Request;
import io.penstock.engine.spi.Wakeup;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

/** What an I/O queue that breaks finds in its inbox. */
class QueueInboxTest {

    private final List<PenstockException> refusals = new ArrayList<>();
    private final FakePort owner = new FakePort(0);

    private final SingleRequest request = new SingleRequest() {
        @Override
        public void fill(Request unused) {
            throw new AssertionError("started");
        }

        @Override
        public void ended(NativeFailure failure) {
            throw new AssertionError("ended");
        }

        @Override
        public Port owner() {
            return owner;
        }

        @Override
        public String description() {
            return "a sync";
        }

        @Override
        public void lose(PenstockException why) {
            throw new AssertionError("lost, although it was not started");
        }

        @Override
        public void refuse(PenstockException why) {
            refusals.add(why);
        }
    };

    @Test
    void whatCameBeforeTheQueueBrokeIsRefusedAtOnce() {
        QueueInbox inbox = new QueueInbox(new Wakeup());
        inbox.offer(request);
        inbox.refuse(new IllegalStateException("a bug"));
        assertThat(refusals).singleElement().satisfies(why -> assertThat(why).hasMessageContaining("a sync"));
        assertThat(owner.losses).isOne();
    }

    @Test
    void whatComesAfterwardsIsRefusedToo() {
        QueueInbox inbox = new QueueInbox(new Wakeup());
        inbox.refuse(new IllegalStateException("a bug"));
        inbox.offer(request);
        assertThat(refusals).hasSize(1);
    }
}
