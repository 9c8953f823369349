// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Completion;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import reactor.core.publisher.Flux;
import reactor.test.publisher.TestPublisher;

/** Peers in other processes, and completions, that are not what was requested. */
@Tag("slow")
class PeersTest {

    private final List<PeerProcess> started = new ArrayList<>();

    @AfterEach
    void close() {
        started.forEach(PeerProcess::close);
    }

    /** Starts a shell that answers each kind of order with a line, or ends where there is none for it. */
    private PeerContender peer(String run, String check) {
        String script = "while read word rest; do case $word in run) echo '" + run + "';; check) "
                + (check.isEmpty() ? "exit" : "echo '" + check + "'") + ";; esac; done";
        PeerProcess shell = new PeerProcess(List.of("/bin/sh", "-c", script), Map.of());
        started.add(shell);
        return new PeerContender(shell, "fast", "same");
    }

    @Test
    void aPeersWorkIsWhatItAnswers() throws Exception {
        assertThat(peer("ok 4 1000 8000 0", "ok 0").run(0)).isEqualTo(new Measure(4, 1_000, 8_000));
        assertThat(peer("ok 4 1000 8000 250.7", "ok 0").run(0))
                .as("the median of its operations, and the processor time of one")
                .isEqualTo(new Measure(1, 250, 2_000));
    }

    @Test
    void wrongWordsOfAPeerAreAFailure() throws Exception {
        peer("ok 1 1 1 0", "ok 0").verify();
        assertThatThrownBy(() -> peer("ok 1 1 1 0", "ok 2").verify())
                .isInstanceOf(IOException.class)
                .hasMessage("2 wrong words");
    }

    @Test
    void aPeerThatEndsOrComplainsIsAFailureAndTheNextOrderStartsAnother() throws Exception {
        PeerContender ending = peer("ok 1 1 1 0", "");
        assertThatThrownBy(ending::verify).hasMessage("check same: it ended or hung");
        assertThat(ending.run(0).operations()).isOne();
        assertThatThrownBy(() -> peer("no memory", "ok 0").run(0)).hasMessage("run fast: no memory");
    }

    /** The part of its output that is read, in fio's order: without reads there are no percentiles of them. */
    @Test
    void latenciesOfFioAreThoseOfTheKindAsked() throws IOException {
        String write = "\"write\" : { \"clat_ns\" : { \"mean\" : 1.0 }, \"lat_ns\" : { \"N\" : 9, \"percentile\" : {"
                + " \"50.000000\" : 1500, \"99.000000\" : 20000, \"99.900000\" : 300000 } } }";
        String json = "{ \"read\" : { \"lat_ns\" : { \"N\" : 0 } }, " + write + " }";
        assertThat(FioPeer.latency(json, "write")).isEqualTo(new Latency(1.5, 20, 300));
        assertThatThrownBy(() -> FioPeer.latency("{}", "read")).hasMessageStartingWith("no \"read\"");
    }

    private static Completion moved(long bytes) {
        return (Completion) Proxy.newProxyInstance(
                Completion.class.getClassLoader(),
                new Class<?>[] {Completion.class},
                (proxy, method, arguments) -> method.getName().equals("bytes") ? bytes : method.getName());
    }

    @Test
    void completionsAreCounted() throws Exception {
        CompletionSink sink = new CompletionSink(4096, each -> {});
        Flux.just(moved(4096), moved(4096), moved(4096)).subscribe(sink);
        assertThat(sink.await()).isEqualTo(3);
    }

    @Test
    void aShortTransferIsAFailureAndEndsTheOthers() {
        CompletionSink sink = new CompletionSink(4096, each -> {});
        TestPublisher<Completion> transfers = TestPublisher.create();
        transfers.subscribe(sink);
        transfers.next(moved(4096)).next(moved(4095));
        transfers.assertCancelled();
        assertThatThrownBy(sink::await).hasRootCauseMessage("a short transfer: toString");
    }

    @Test
    void aFailureIsNoEnd() {
        CompletionSink sink = new CompletionSink(4096, each -> {});
        Flux.just(moved(4096)).concatWith(Flux.error(new IOException("EIO"))).subscribe(sink);
        assertThatThrownBy(sink::await).hasRootCauseMessage("EIO");
    }
}
