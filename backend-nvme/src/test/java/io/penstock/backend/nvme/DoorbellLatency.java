// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme;

import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.engine.kit.Pause;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import reactor.core.publisher.Flux;

/**
 * How long it takes from the moment at which a submitter begins an entry to the {@code onNext} of its completion, over an
 * emulated controller. The blocks that were read are compared with the blocks that were written.
 *
 * <pre>
 * java ... io.penstock.backend.nvme.DoorbellLatency CONTROLLER SUBMITTER [COMMANDS]
 * </pre>
 */
final class DoorbellLatency implements AutoCloseable {

    private static final Duration PATIENCE = Duration.ofMinutes(2);
    private static final int BYTES = 4096;
    private static final int BLOCKS = BYTES / 512;
    private static final int SPAN = 1024;
    private static final int TIMES = 1 << 15; // of submitter.c
    private static final int MOST_PAIRS = 8;

    private final EmulatedController emulated;
    private final Controller controller;
    private final Path submitter;
    private final DmaMemory data;
    private final DmaMemory times;
    private final byte[] content = new byte[SPAN * BYTES];

    /**
     * What was measured, in nanoseconds.
     *
     * @param toSignal from the begin of an entry to {@code onNext}, sorted
     * @param toPoll from there to when the submitter has found the completion by itself, sorted: of the last 32,768
     *     commands
     * @param nanos from the first signal to the last
     * @param writes of doorbell registers
     * @param clock what the submitter has printed of its clock
     */
    @SuppressWarnings("ArrayRecordComponent") // read by its creator only
    record Figures(long[] toSignal, long[] toPoll, long nanos, long writes, String clock) {

        private static String micros(long[] sorted) {
            int last = sorted.length - 1;
            return String.format(
                    Locale.ROOT,
                    "median %.1f, 90%% %.1f, 99%% %.1f, most %.1f us",
                    sorted[last / 2] / 1e3,
                    sorted[(int) (last * 0.9)] / 1e3,
                    sorted[(int) (last * 0.99)] / 1e3,
                    sorted[last] / 1e3);
        }

        @Override
        public String toString() {
            return String.format(
                    Locale.ROOT,
                    "entry to onNext: %s; to the submitter's own poll: %s; %,.0f/s; %.3f register writes each; %s",
                    micros(toSignal),
                    micros(toPoll),
                    toSignal.length * 1e9 / nanos,
                    (double) writes / toSignal.length,
                    clock);
        }
    }

    /** Writes the blocks that are then read. */
    DoorbellLatency(EmulatedController emulated, Controller controller, Path submitter) throws IOException {
        this.emulated = emulated;
        this.controller = controller;
        this.submitter = submitter;
        data = emulated.allocate(content.length);
        times = emulated.allocate(2L * TIMES * Long.BYTES * MOST_PAIRS);
        new Random(20).nextBytes(content);
        data.buffer(0, content.length).put(0, content);
        run(1, 8, SPAN, "write=1");
    }

    public static void main(String[] arguments) throws IOException {
        int commands = arguments.length > 2 ? Integer.parseInt(arguments[2]) : 100_000;
        EmulatedController emulated = new EmulatedController(Path.of(arguments[0]), "spin");
        try {
            Controller controller = Controller.open("latency", () -> emulated, PATIENCE);
            try (DoorbellLatency latency = new DoorbellLatency(emulated, controller, Path.of(arguments[1]))) {
                latency.measure(1, 8, commands / 4); // for the compilers
                for (int[] row : new int[][] {{1, 1}, {1, 32}, {4, 1}, {MOST_PAIRS, 8}}) {
                    Figures figures = latency.measure(row[0], row[1], commands / row[0]);
                    System.out.printf(
                            "%d pairs, %d in flight each, %d reads of %d bytes, all right: %s%n",
                            row[0], row[1], figures.toSignal.length, BYTES, figures);
                }
            }
            controller.leave();
        } finally {
            emulated.end();
        }
    }

    /** Reads by as many queue pairs, with so many commands in flight on each, and checks what was read. */
    Figures measure(int pairs, int depth, int commands) throws IOException {
        byte[] found = new byte[content.length];
        data.buffer(0, found.length).put(0, found);
        Figures figures = run(pairs, depth, commands, "write=0");
        data.buffer(0, found.length).get(0, found);
        int read = Math.min(SPAN, pairs * commands) * BYTES;
        if (!Arrays.equals(found, 0, read, content, 0, read)) {
            throw new IllegalStateException("the blocks differ at " + Arrays.mismatch(found, content));
        }
        return figures;
    }

    private Figures run(int pairs, int depth, int commands, String write) throws IOException {
        List<QueuePairHandle> handles = Flux.range(0, pairs)
                .concatMap(i -> QueuePairHandle.open(controller::join, Math.max(depth, 64), Pause.pollNanos(-1)))
                .collectList()
                .block(PATIENCE);
        List<String> arguments = new ArrayList<>(List.of("data=" + data.busAddress(), "times=" + times.busAddress()));
        arguments.addAll(List.of("bytes=" + BYTES, "blocks=" + BLOCKS, "span=" + SPAN, write));
        arguments.addAll(List.of("count=" + commands, "depth=" + depth));
        handles.forEach(handle -> arguments.add(Submitter.argument(handle)));
        long writes = emulated.doorbellWrites();
        long[] toSignal = new long[pairs * commands];
        long nanos;
        List<String> lines = new ArrayList<>();
        try (Submitter process = Submitter.start(submitter, emulated.memoryFile(), arguments)) {
            nanos = signal(handles, commands, toSignal);
            for (String line = process.line(); line != null; line = process.line()) {
                lines.add(line);
            }
        }
        if (!lines.remove("completed " + toSignal.length + " errors 0 status 0")) {
            throw new IOException("the submitter failed: " + lines);
        }
        long[] offsets = lines.stream() // of another clock: clock OFFSET error NANOS step NANOS, before and after
                .mapToLong(line -> Long.parseLong(line.split(" ")[1]))
                .toArray();
        long offset = offsets.length == 0 ? 0 : offsets[0] + (offsets[1] - offsets[0]) / 2;
        for (int i = 0; i < toSignal.length; i++) {
            toSignal[i] -= offset;
        }
        Arrays.sort(toSignal);
        Figures figures = new Figures(
                toSignal, toPoll(pairs, commands), nanos, emulated.doorbellWrites() - writes, lines.toString());
        handles.forEach(QueuePairHandle::close);
        handles.forEach(handle -> handle.released().block(PATIENCE));
        return figures;
    }

    /** Takes the time of each completion, and returns that between the first and the last. */
    private long signal(List<QueuePairHandle> handles, int commands, long[] toSignal) {
        long[] signalled = new long[toSignal.length];
        AtomicInteger count = new AtomicInteger();
        ByteBuffer begun = begun();
        Flux.range(0, handles.size())
                .flatMap(i -> handles.get(i).completions().take(commands).doOnNext(completion -> {
                    long now = System.nanoTime(); // CLOCK_MONOTONIC, as the submitter's
                    if (!completion.isSuccess()) {
                        throw new IllegalStateException(completion.toString());
                    }
                    int index = count.getAndIncrement();
                    signalled[index] = now;
                    int at = i * 2 * TIMES + completion.commandId();
                    toSignal[index] = now - begun.getLong(at * Long.BYTES);
                }))
                .blockLast(PATIENCE);
        Arrays.sort(signalled);
        return signalled[signalled.length - 1] - signalled[0];
    }

    private ByteBuffer begun() {
        return times.buffer(0, (int) times.bytes()).order(ByteOrder.LITTLE_ENDIAN);
    }

    private long[] toPoll(int pairs, int commands) {
        ByteBuffer begun = begun();
        int kept = Math.min(commands, TIMES);
        long[] toPoll = new long[pairs * kept];
        for (int i = 0; i < toPoll.length; i++) {
            int at = (i / kept * 2 * TIMES + i % kept) * Long.BYTES;
            toPoll[i] = begun.getLong(at + TIMES * Long.BYTES) - begun.getLong(at);
        }
        Arrays.sort(toPoll);
        return toPoll;
    }

    @Override
    public void close() {
        Stream.of(data, times).forEach(DmaMemory::free);
    }
}
