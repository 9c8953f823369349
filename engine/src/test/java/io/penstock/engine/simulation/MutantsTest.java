// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.simulation.Mutant.Edit;
import java.io.IOException;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URLClassLoader;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Proves that the simulation sees: each way to break the engine breaks a rule within the seeds that CI runs. */
@Tag("once")
@Tag("slow")
class MutantsTest {
    private static final int SEEDS = 10_000;

    @TempDir
    Path scratch;

    @BeforeAll
    static void whereThereIsACompiler() {
        assumeTrue(Machine.isSupported(), "the simulated kernel is a 64-bit Linux, and so are its paths");
        assumeTrue(ModuleLayer.boot().findModule("jdk.compiler").isPresent(), "this Java runtime has no compiler");
    }

    static Stream<Mutant> mutants() {
        return Stream.of(ofTransfers(), ofBlocks(), ofEnds(), ofLeases(), ofChannels(), ofCalls(), ofStaging())
                .flatMap(all -> all);
    }

    private static Stream<Mutant> ofCalls() {
        return Stream.of(
                Mutant.of(
                        "an upload goes to the start of the buffer",
                        new Edit("Copies", "window(buffer.memory(), copy.offset,", "window(buffer.memory(), 0,")),
                Mutant.of(
                        "a file is not made longer",
                        new Edit("EngineFile", "file.truncate(size)", "file.truncate(Math.min(size, file.size()))")),
                Mutant.of(
                        "a close that has failed is tried again",
                        new Edit(
                                "LinuxFile",
                                "            int answer = calls.close(fd);\n",
                                "            int answer = calls.close(fd);\n if (answer < 0) { calls.close(fd); }\n")),
                Mutant.of(
                        "a ring is closed under the read of its wake counter",
                        new Edit("UringQueue", "            disarmWake();\n", "")));
    }

    private static Stream<Mutant> ofStaging() {
        return Stream.of(
                Mutant.of(
                        "a copy of the device that has failed counts as made",
                        new Edit(
                                "StagedQueue",
                                "if (staged.failure != null) {\n            end(staged, staged.failure);",
                                "if (staged.failure != null && staged.step != StagedRequest.Step.COPY) {\n"
                                        + "            end(staged, staged.failure);")),
                Mutant.of(
                        "a device that is lost is asked for further copies",
                        new Edit("DeviceSide", "            lost = failure;\n", "")),
                Mutant.of(
                        "a bounce buffer is passed on when its copy has begun",
                        new Edit(
                                "StagedQueue",
                                "        return begun;",
                                "        if (begun) {\n            end(staged, null);\n        }\n        return false;")),
                Mutant.of(
                        "a cancelled segment that waits for a bounce buffer has no end",
                        new Edit(
                                "StagedQueue",
                                "stagingBuffers.remove(staged);\n                end(staged, CANCELLED);",
                                "stagingBuffers.remove(staged);")));
    }

    private static Stream<Mutant> ofChannels() {
        return Stream.of(
                Mutant.of(
                        "a call on a channel that ends does not wake the I/O queue",
                        new Edit(
                                "CallThreads",
                                "                wakeup.wake(); // after add",
                                "                // after add")),
                Mutant.of(
                        "EAGAIN of a channel is the end of the file",
                        new Edit("ChannelFile", "got == 0 && memory.hasRemaining()", "false")),
                Mutant.of(
                        "a call that is taken back has no end",
                        new Edit("CallThreads", "waiting.remove(call) && ended.add(call)", "waiting.remove(call)")),
                Mutant.of(
                        "who was interrupted closes the channel",
                        new Edit(
                                "ChannelFile",
                                "boolean interrupted = Thread.interrupted();",
                                "boolean interrupted = false;")));
    }

    private static Stream<Mutant> ofLeases() {
        return Stream.of(
                Mutant.of(
                                "a lease ends with its stream",
                                new Edit(
                                        "StreamSubscription",
                                        "            release(current.lease());",
                                        "            while (!current.lease().isOver()) { current.lease().release(); }"))
                        .from(2000),
                Mutant.of(
                        "a retained chunk is read into",
                        new Edit(
                                "StreamSubscription",
                                "        release(over.lease());",
                                "        release(over.lease());"
                                        + " if (!over.lease().isOver()) { buffers().give(over.lease().memory()); }")),
                Mutant.of(
                        "a chunk does not wait for its fences",
                        new Edit("ChunkLease", "        hold();\n        fences", "        fences"),
                        new Edit("ChunkLease", "        release();\n        lender", "        lender")));
    }

    private static Stream<Mutant> ofTransfers() {
        return Stream.of(
                Mutant.of(
                        "no short-read loop",
                        new Edit("SegmentSteps", "!mayRest || segment.endsFile(", "true || segment.endsFile(")),
                Mutant.of(
                        "bounce buffer reused early",
                        new Edit(
                                "BounceBuffers",
                                "segment.cover.buffer = buffer;",
                                "segment.cover.buffer = buffer; pool.free.add(buffer);"),
                        new Edit("BounceBuffers", "        pool.free.add(buffer);\n        for", "        for")),
                Mutant.of(
                        "buffer freed at cancel",
                        new Edit("OpenTransfer", "carrier.post(() -> carrier.stop(this));", """
                                carrier.post(() -> carrier.stop(this));
                                for (int i = 0; i < (transfer().isGather() ? 1 : transfer().pairs()); i++) {
                                    buffer(i).pins().unpin();
                                }
                                """),
                        new Edit(
                                "Intake",
                                "            if (buffer != null) {\n",
                                "            if (buffer != null && !open.isCancelled()) {\n")),
                Mutant.of(
                        "lost wake-up: no check for work after the announcement of a wait",
                        new Edit("IoQueue", "!isStopped() && inbox.isEmpty()", "!isStopped()"),
                        new Edit("Wakeup", "!announce() || work.getAsBoolean()", "!announce()")),
                Mutant.of(
                        "lost wake-up: the waiting thread is not woken",
                        new Edit("QueueInbox", "        wakeup.rouse();", "        ")));
    }

    private static Stream<Mutant> ofBlocks() {
        return Stream.of(
                Mutant.of("no block lock", new Edit("SegmentSteps", "if (write && !lock(segment)) {", "if (false) {")),
                Mutant.of(
                        "retried sync",
                        new Edit("MonoSync", "        private final String description;\n", """
                                private final String description;
                                private boolean retried;
                                """),
                        new Edit("MonoSync", "            boolean awaited = over.compareAndSet(false, true);\n", """
                                if (failure != null && !retried) {
                                    retried = true;
                                    ioQueue.accept(this);
                                    return;
                                }
                                boolean awaited = over.compareAndSet(false, true);
                                """)),
                Mutant.of(
                                "abandoned transfers not waited for",
                                new Edit("IoQueue", "if (BusyRegions.ALL.isEmpty()) {", "if (true) {"))
                        .from(1016),
                Mutant.of(
                        "length not restored",
                        new Edit("SegmentSteps", "            next(segment, Step.LENGTH);\n", "")),
                Mutant.of(
                        "a length that a neighbour has made for a moment is believed",
                        new Edit(
                                "SegmentSteps",
                                "segment.done < segment.cover.bytes && !segment.cover.lengthens",
                                "false")),
                Mutant.of(
                        "a failed truncate is swallowed",
                        new Edit(
                                "SegmentSteps",
                                "                if (failure != null) {",
                                "                if (false) {")),
                Mutant.of(
                        "a free bounce buffer is not assigned to a waiting segment",
                        new Edit("SegmentSteps", "            bufferOrWait(next);\n", "")),
                Mutant.of(
                        "an abandoned segment waits for a bounce buffer",
                        new Edit(
                                "SegmentSteps",
                                "        buffers.forget(segment);\n        ioQueue",
                                "        ioQueue")));
    }

    private static Stream<Mutant> ofEnds() {
        return Stream.of(
                Mutant.of(
                        "bytes count beyond the end of a file that has become shorter",
                        new Edit("OpenTransfer", "return reach == null ? moved : reach.bytes();", "return moved;")),
                Mutant.of(
                        "a cancel on the subscriber's thread",
                        new Edit("OpenTransfer", "carrier.post(() -> carrier.stop(this));", "carrier.stop(this);")),
                Mutant.of(
                        "a transfer that ends while it is held back is kept",
                        new Edit(
                                "IoQueue", "            held.remove(transfer);\n        }\n    }", "        }\n    }")),
                Mutant.of("a deadline is kept", new Edit("IoQueue", "            deadlines.remove(transfer);\n", "")),
                Mutant.of(
                        "an abort without a cancel is not a failure",
                        new Edit("SegmentSteps", "CANCELLED && transfer.isStopped())", "CANCELLED)")),
                Mutant.of(
                        "a broken I/O queue drops messages that have not reached it",
                        new Edit(
                                "QueueInbox",
                                "if (message instanceof OpenTransfer transfer) {\n                transfer.drop",
                                "if (false && message instanceof OpenTransfer transfer) {\n                transfer.drop")),
                Mutant.of(
                                "a broken I/O queue drops its syncs",
                                new Edit("IoQueue", "        abandonSingles(single -> true, why);\n", ""))
                        .from(1323),
                Mutant.of(
                        "a sync waits for a write that was abandoned",
                        new Edit("OpenTransfer", "            loseWrite(why);\n", "")),
                Mutant.of(
                                "lost wake-up: an I/O queue waits before its wake counter is read",
                                new Edit("Ring", " && submissions.pending() == 0) {", ") {"))
                        .from(6243),
                Mutant.of(
                                "a ring is left open where its I/O queue gets no wake counter",
                                new Edit(
                                        "UringQueue",
                                        "            ring.close();\n            throw",
                                        "            throw"))
                        .from(3336));
    }

    @ParameterizedTest
    @MethodSource("mutants")
    @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void isFound(Mutant mutant) throws Exception {
        long seed = firstBroken(mutant, SEEDS);
        assertThat(seed).as("a seed below %d that finds: %s", SEEDS, mutant).isNotNegative();
        System.out.println("mutant '" + mutant + "' is found at seed " + seed);
    }

    @Test
    @Timeout(value = 600, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void theUnchangedEnginePassesTheSameWay() throws Exception {
        assertThat(firstBroken(Mutant.of("as it is"), 50)).isNegative();
    }

    /** Returns the first seed that breaks a rule, of all below a number, from the mutant's own on and round; or -1. */
    private long firstBroken(Mutant mutant, int seeds)
            throws IOException, ReflectiveOperationException, InvocationTargetException {
        try (URLClassLoader loader = mutant.load(scratch)) {
            Class<?> type = loader.loadClass(Simulation.class.getName());
            Method run = type.getMethod("run", long.class);
            try (AutoCloseable simulation =
                    (AutoCloseable) type.getConstructor().newInstance()) {
                for (int i = 0; i < seeds; i++) {
                    long seed = (mutant.from() + i) % seeds;
                    if (run.invoke(simulation, seed) != null) {
                        return seed;
                    }
                }
            } catch (IOException | ReflectiveOperationException e) {
                throw e;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        }
        return -1;
    }
}
