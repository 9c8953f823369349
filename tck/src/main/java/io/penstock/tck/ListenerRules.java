// SPDX-License-Identifier: Apache-2.0
package io.penstock.tck;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Completion;
import io.penstock.FailedCompletion;
import io.penstock.FileOption;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.TransferListener;
import java.io.IOException;
import org.junit.jupiter.api.Test;
import reactor.core.Disposable;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** Listeners: each transfer that begins has one end (rule 101). */
public interface ListenerRules extends Rules {

    /** One end per beginning, before the subscriber's. If this fails, check which operator opens no watch. */
    @Test
    default void required_101_aListenerGetsTheEndOfEachTransferBeforeTheSubscriber(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 40_000), FileOption.READ);
        Transfer read =
                Transfer.read(file.region(0, 10_000), bench.poisoned(10_000).all());
        Heard heard = new Heard();
        Disposable listening = bench.backend().listen(heard);
        Mono<Completion> submitted = bench.backend().submit(read);
        assertThat(heard.started).as("before the subscription").isEmpty();
        Bench.get(submitted.doOnNext(completion -> assertThat(heard.ended)
                .hasSize(1)
                .first()
                .satisfies(end -> {
                    assertThat(end.transfer()).isSameAs(read);
                    assertThat(end.bytes()).isEqualTo(10_000);
                    assertThat(end.path()).isEqualTo(completion.path());
                })));
        Bench.run(bench.backend().submit(Flux.just(read, read, read)).then());
        assertThat(heard.started).hasSize(4);
        Bench.run(
                bench.backend().stream(StreamPlan.of(file.all()).chunkBytes(10_000), chunk -> Mono.just(chunk.index()))
                        .then());
        assertThat(heard.started).as("with the chunks of a stream").hasSize(8);
        assertThat(heard.ended).hasSize(8).noneMatch(FailedCompletion.class::isInstance);
        assertThat(heard.cancelled).isEmpty();

        listening.dispose();
        Bench.get(bench.backend().submit(read));
        assertThat(heard.started).as("after it was removed").hasSize(8);
    }

    /** A failure is an end. If this fails, check the refusals, which have no I/O queue. */
    @Test
    default void required_101_aListenerGetsFailures(Bench bench) {
        Transfer failing = bench.failingWrite();
        Heard heard = new Heard();
        bench.backend().listen(heard);
        Witness.of(bench.backend().submit(failing)).error();
        assertThat(heard.ended)
                .singleElement()
                .isInstanceOfSatisfying(
                        FailedCompletion.class,
                        end -> assertThat(end.error()).isInstanceOf(PermanentStorageException.class));
        failing.fileRegion(0).file().close();
        Witness.of(bench.backend().submit(failing)).error();
        assertThat(heard.started).hasSize(2);
        assertThat(heard.ended).as("with a refusal").hasSize(2);
    }

    /** A cancel is an end, and the only one. If this fails, check a completion that comes after it. */
    @Test
    default void required_101_aListenerGetsACancelOnce(Bench bench) throws IOException {
        Gate gate = bench.gate();
        Transfer held = bench.heldRead(gate, bench.poisoned(4096).all());
        Heard heard = new Heard();
        bench.backend().listen(heard);
        Witness<Completion> read = Witness.of(bench.backend().submit(held));
        bench.letOthersRun();
        read.cancel();
        read.cancel();
        assertThat(heard.cancelled).containsExactly(held);
        gate.letReadsEnd(4096);
        bench.letOthersRun();
        assertThat(heard.cancelled).containsExactly(held);
        assertThat(heard.ended).extracting(Completion::transfer).doesNotContain(held);
    }

    /** An exception of a listener is its own. If this fails, check what runs between the end and the subscriber. */
    @Test
    default void required_101_anExceptionOfAListenerChangesNothing(Bench bench) {
        StorageFile file = bench.open(bench.file("data", 4096), FileOption.READ);
        Transfer read = Transfer.read(file.all(), bench.poisoned(4096).all());
        Heard heard = new Heard();
        Disposable failing = bench.backend().listen(new TransferListener() {
            @Override
            public void started(Transfer transfer) {
                throw new IllegalStateException("a listener's own");
            }

            @Override
            public void ended(Completion completion) {
                throw new IllegalStateException("a listener's own");
            }
        });
        bench.backend().listen(heard);
        assertThat(bench.move(read).bytes()).isEqualTo(4096);
        assertThat(heard.ended).hasSize(1);
        failing.dispose();
    }
}
