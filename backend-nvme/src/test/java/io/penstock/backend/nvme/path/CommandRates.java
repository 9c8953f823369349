// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import com.sun.management.OperatingSystemMXBean;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.CommonOptions.Delivery;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.backend.nvme.bus.DmaMemory;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.QueuePair;
import io.penstock.backend.nvme.controller.SubmissionEntry;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import java.io.BufferedOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.lang.management.ManagementFactory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.LongSupplier;
import java.util.function.ToDoubleFunction;
import java.util.stream.IntStream;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * {@code CommandRates SCRATCH READS ROUNDS SECONDS}: random reads of 4 KiB from QEMU's controller, 1 and 32 in flight,
 * by a driver in C ({@code reads.c}, compiled as READS), by this driver's queue pair, and by the backend. They run in
 * turns, each on a QEMU that was started for the run; every block that arrives is checked. Prints a table.
 */
public final class CommandRates {

    private static final int BLOCK = 4096;
    private static final int BLOCKS = 16_384; // 64 MiB, which stay in the page cache
    private static final double WARM_UP_SECONDS = 0.3; // of a QEMU, as in reads.c
    private static final String DEVICE = "mdts=9";
    private static final String PEER = "C";
    private static final String HANDED = "C, two threads"; // each command handed over, as the backend does

    private final Path scratch;
    private final Path reads;
    private final String disk;

    /** What a run has done; register writes are writes of doorbells. */
    private record Run(long commands, long nanos, long cpuNanos, long registerWrites) {

        double perSecond() {
            return commands * 1e9 / nanos;
        }

        double writesEach() {
            return (double) registerWrites / commands;
        }

        double cpuMicrosEach() {
            return cpuNanos / 1e3 / commands;
        }
    }

    /** Reads for so long, with so many in flight. */
    private interface Contender {
        Run run(int depth, double seconds) throws IOException, InterruptedException;
    }

    /** Reads until a time of {@link System#nanoTime}, and returns the number of commands. */
    private interface Loop {
        long until(long end);
    }

    private CommandRates(Path scratch, Path reads) throws IOException {
        this.scratch = scratch;
        this.reads = reads;
        Path content = scratch.resolve("disk");
        disk = "file=" + content + ",format=raw";
        ByteBuffer block = ByteBuffer.allocate(BLOCK).order(ByteOrder.LITTLE_ENDIAN);
        try (OutputStream out = new BufferedOutputStream(Files.newOutputStream(content), 1 << 20)) {
            for (long i = 0; i < BLOCKS; i++) {
                out.write(block.putLong(0, i).array());
            }
        }
    }

    /** Runs it. */
    public static void main(String[] arguments) throws Exception {
        CommandRates rates = new CommandRates(Path.of(arguments[0]), Path.of(arguments[1]));
        int rounds = Integer.parseInt(arguments[2]);
        double seconds = Double.parseDouble(arguments[3]);
        System.out.println(
                "| in flight | driver | commands/s | ratio to C | to C, two threads | register writes each | CPU us each |\n"
                        + "|---|---|---|---|---|---|---|");
        for (int depth : new int[] {1, 32}) {
            Map<String, List<Run>> runs = rates.measure(depth, rounds, seconds);
            runs.forEach((name, its) -> System.out.println("| " + depth + " | " + name + " | "
                    + spread("%,.0f", its, Run::perSecond) + " | "
                    + ratio(its, runs.get(PEER)) + " | " + ratio(its, runs.get(HANDED)) + " | "
                    + spread("%.2f", its, Run::writesEach) + " | " + spread("%.1f", its, Run::cpuMicrosEach)
                    + " |"));
        }
        System.exit(0);
    }

    private static String ratio(List<Run> runs, List<Run> peers) {
        return spread(
                "%.2f",
                IntStream.range(0, runs.size()).boxed().toList(),
                round -> runs.get(round).perSecond() / peers.get(round).perSecond());
    }

    private Map<String, List<Run>> measure(int depth, int rounds, double seconds)
            throws IOException, InterruptedException {
        Map<String, Contender> contenders = new LinkedHashMap<>();
        contenders.put(PEER, (inFlight, time) -> peer(inFlight, time, 1));
        contenders.put(HANDED, (inFlight, time) -> peer(inFlight, time, 2));
        contenders.put("queue pair", this::queuePair);
        Options plain = Options.none(); // with which it polls where there are many processors
        Options polling = Options.none().with(CommonOptions.POLL_MICROS, 200);
        contenders.put("submit", submit(plain));
        contenders.put("submit, poll-micros=200", submit(polling));
        contenders.put("submit, delivery=direct", submit(plain.with(CommonOptions.DELIVERY, Delivery.DIRECT)));
        contenders.put("submit, both", submit(polling.with(CommonOptions.DELIVERY, Delivery.DIRECT)));
        Map<String, List<Run>> runs = new LinkedHashMap<>();
        contenders.keySet().forEach(name -> runs.put(name, new ArrayList<>()));
        List<String> order = new ArrayList<>(contenders.keySet());
        for (int round = -1; round < rounds; round++) { // the first one warms up
            for (String name : order) {
                Run run = contenders.get(name).run(depth, seconds);
                if (round >= 0) {
                    runs.get(name).add(run);
                }
            }
            Collections.reverse(order);
        }
        return runs;
    }

    private Run peer(int depth, double seconds, int threads) throws IOException, InterruptedException {
        Path folder = Files.createTempDirectory(scratch, "peer");
        Path shared = Path.of("/dev/shm");
        Path ram = (Files.isWritable(shared) ? shared : folder).resolve(folder.getFileName() + ".ram");
        List<String> command = new ArrayList<>(
                List.of(reads.toString(), folder.resolve("qtest").toString()));
        command.addAll(List.of(ram.toString(), "" + depth, "" + seconds, "" + BLOCKS, "" + threads));
        command.addAll(Qemu.command(folder, ram, disk, DEVICE));
        try {
            Process process = new ProcessBuilder(command)
                    .redirectError(ProcessBuilder.Redirect.INHERIT)
                    .start();
            String[] numbers = new String(process.getInputStream().readAllBytes(), StandardCharsets.US_ASCII)
                    .strip()
                    .split(" ");
            if (process.waitFor() != 0) {
                throw new IOException(reads + " ended with " + process.exitValue());
            }
            return new Run(
                    Long.parseLong(numbers[0]),
                    Long.parseLong(numbers[1]),
                    Long.parseLong(numbers[2]),
                    Long.parseLong(numbers[3]));
        } finally {
            Files.deleteIfExists(ram);
        }
    }

    private static Run time(double seconds, LongSupplier registerWrites, Loop loop) {
        OperatingSystemMXBean system = (OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean();
        loop.until(System.nanoTime() + (long) (WARM_UP_SECONDS * 1e9));
        long writes = registerWrites.getAsLong();
        long cpu = system.getProcessCpuTime();
        long begin = System.nanoTime();
        long commands = loop.until(begin + (long) (seconds * 1e9));
        long nanos = System.nanoTime() - begin;
        return new Run(commands, nanos, system.getProcessCpuTime() - cpu, registerWrites.getAsLong() - writes);
    }

    private Run queuePair(int depth, double seconds) throws IOException {
        try (Qemu qemu = Qemu.start(disk, DEVICE)) {
            QtestBus bus = new QtestBus(qemu);
            Controller controller = Controller.open("rates", () -> bus, Duration.ofSeconds(10));
            QueuePair pair = controller.openQueuePair(63, -1);
            DmaMemory memory = controller.bus().allocate((long) depth * BLOCK);
            PairLoop loop = new PairLoop(pair, memory, depth);
            Run run = time(seconds, bus::doorbellWrites, loop::until);
            controller.close(pair);
            memory.free();
            controller.leave();
            return run;
        }
    }

    private static void check(ByteBuffer data, int slot, long block) {
        long found = data.getLong(slot * BLOCK);
        if (found != block) {
            throw new AssertionError("block " + block + " holds " + found);
        }
    }

    /** The loop of {@code reads.c}. */
    private static final class PairLoop implements QueuePair.Completions {

        private final QueuePair pair;
        private final DmaMemory memory;
        private final ByteBuffer data;
        private final long[] wanted;
        private boolean more;
        private int inFlight;
        private long count;

        PairLoop(QueuePair pair, DmaMemory memory, int depth) {
            this.pair = pair;
            this.memory = memory;
            data = memory.buffer(0, depth * BLOCK).order(ByteOrder.LITTLE_ENDIAN);
            wanted = new long[depth];
        }

        long until(long end) {
            count = 0;
            more = true;
            inFlight = wanted.length;
            for (int i = 0; i < wanted.length; i++) {
                submit(i);
            }
            pair.ring();
            while (inFlight > 0) {
                if (pair.poll(this) > 0) {
                    pair.ring();
                    more = System.nanoTime() - end < 0;
                }
            }
            return count;
        }

        private void submit(int slot) {
            wanted[slot] = ThreadLocalRandom.current().nextLong(BLOCKS);
            pair.next()
                    .command(SubmissionEntry.READ, slot, 1)
                    .data(memory.busAddress() + (long) slot * BLOCK, 0)
                    .blocks(wanted[slot] * (BLOCK / 512), BLOCK / 512);
        }

        @Override
        public void completed(int commandId, int status, int result) {
            if (status != 0) {
                throw new AssertionError("status " + Integer.toHexString(status));
            }
            check(data, commandId, wanted[commandId]);
            count++;
            if (more) {
                submit(commandId);
            } else {
                inFlight--;
            }
        }
    }

    private Contender submit(Options set) {
        Options options = set.resolve(Backends.options());
        return (depth, seconds) -> submit(depth, seconds, options);
    }

    private Run submit(int depth, double seconds, Options options) throws IOException {
        AtomicReference<QtestBus> opened = new AtomicReference<>();
        try (Qemu qemu = Qemu.start(disk, DEVICE);
                Backend backend = NvmeProvider.open(
                        "rates",
                        "rates",
                        () -> {
                            opened.set(new QtestBus(qemu));
                            return opened.get();
                        },
                        controller -> new BlockRanges(controller, false, 1 << 20),
                        options);
                StorageFile file =
                        backend.openFile(Path.of("0000:00:04.0", "1")).block();
                DeviceBuffer buffer = backend.allocate((long) depth * BLOCK).block()) {
            ByteBuffer data =
                    buffer.hostView().orElseThrow().buffer(0, depth * BLOCK).order(ByteOrder.LITTLE_ENDIAN);
            return time(
                    seconds,
                    opened.get()::doorbellWrites,
                    end -> Flux.range(0, depth)
                            .flatMap(
                                    slot -> Mono.defer(() -> read(backend, file, buffer, data, slot))
                                            .repeat(() -> System.nanoTime() - end < 0),
                                    depth)
                            .count()
                            .block());
        }
    }

    private static Mono<Long> read(Backend backend, StorageFile file, DeviceBuffer buffer, ByteBuffer data, int slot) {
        long block = ThreadLocalRandom.current().nextLong(BLOCKS);
        return backend.submit(
                        Transfer.read(file.region(block * BLOCK, BLOCK), buffer.region((long) slot * BLOCK, BLOCK)))
                .map(completion -> {
                    check(data, slot, block);
                    return completion.bytes();
                });
    }

    private static <T> String spread(String format, List<T> runs, ToDoubleFunction<T> number) {
        double[] sorted = runs.stream().mapToDouble(number).sorted().toArray();
        return String.format(
                Locale.ROOT,
                format + " (" + format + " to " + format + ")",
                sorted[sorted.length / 2],
                sorted[0],
                sorted[sorted.length - 1]);
    }
}
