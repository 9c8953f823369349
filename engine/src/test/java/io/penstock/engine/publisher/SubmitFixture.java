// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.publisher;

import io.penstock.Completion;
import io.penstock.SubmitOptions;
import io.penstock.Transfer;
import io.penstock.engine.FakeBuffer;
import io.penstock.engine.FakePort;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;
import reactor.test.subscriber.TestSubscriber;

/** A pipeline of reads, numbered by their tags, over an engine that the test steps. */
abstract class SubmitFixture {

    final FakePort port = new FakePort(1 << 16);
    final FakeBuffer buffer = new FakeBuffer(1 << 16, true);

    final Transfer read(int number) {
        return Transfer.read(port.file.region(number, 1), buffer.region(0, 1)).tag(number);
    }

    final Flux<Transfer> reads(int count) {
        return Flux.range(0, count).map(this::read);
    }

    static int number(Completion completion) {
        return (int) completion.transfer().tag().orElseThrow();
    }

    final TestSubscriber<Integer> submit(Publisher<Transfer> transfers, SubmitOptions options, long demand) {
        TestSubscriber<Integer> subscriber =
                TestSubscriber.builder().initialRequest(demand).build();
        new FluxSubmit(port, transfers, options).map(FluxSubmitTest::number).subscribe(subscriber);
        return subscriber;
    }

    static SubmitOptions inFlight(int count) {
        return SubmitOptions.DEFAULT.inFlight(count);
    }
}
