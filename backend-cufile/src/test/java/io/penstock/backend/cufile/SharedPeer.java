// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.SharedRead;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.testing.FakeControl;
import io.penstock.formats.Loader;
import io.penstock.formats.SharedLoad;
import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.zip.CRC32;
import org.jspecify.annotations.Nullable;
import reactor.core.Disposable;
import reactor.core.scheduler.Schedulers;

/** A process that takes part in shared reads, for {@link IpcPeer}: each command but {@code start} has one answer. */
final class SharedPeer {

    private static final int PIECE = 16 << 20;

    private final Backend backend;
    private final @Nullable FakeControl fake;
    private @Nullable StorageFile file;
    private @Nullable DeviceBuffer buffer;
    private @Nullable Disposable running;

    private SharedPeer(Backend backend, @Nullable FakeControl fake) {
        this.backend = backend;
        this.fake = fake;
    }

    /** Runs in a process of its own; an argument is the file of the fake. */
    public static void main(String[] arguments) throws IOException {
        String library = System.getenv("PENSTOCK_CUFILE_LIBCUDA");
        FakeControl fake = library == null ? null : new FakeControl(Path.of(library));
        if (fake != null) {
            fake.set("device_count", 4);
        }
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
        try (Backend backend = Backends.open("cufile")) {
            SharedPeer peer = new SharedPeer(backend, fake);
            for (String line = in.readLine(); line != null; line = in.readLine()) {
                String answer;
                try {
                    answer = peer.carryOut(line.split(" "));
                } catch (RuntimeException e) {
                    answer = "failed " + e;
                }
                if (!answer.isEmpty()) {
                    System.out.println(answer);
                }
            }
        }
    }

    private String carryOut(String[] command) {
        switch (command[0]) {
            case "open" -> {
                StorageFile opened = GpuFixture.get(backend.openFile(Path.of(command[1]), FileOption.READ));
                file = opened;
                buffer = GpuFixture.get(backend.allocate(opened.size()));
                return "opened";
            }
            case "start" -> {
                start(command);
                return "";
            }
            case "load" -> {
                load(command);
                return "";
            }
            case "cancel" -> {
                Objects.requireNonNull(running).dispose();
                return "cancelled";
            }
            case "sum" -> {
                return "" + sum(Objects.requireNonNull(buffer).all());
            }
            case "close" -> {
                Objects.requireNonNull(buffer).close();
                Objects.requireNonNull(file).close();
                return "closed";
            }
            case "left" -> {
                return "" + backend.counters().buffers();
            }
            case "read" -> {
                return "" + bytesRead();
            }
            case "set" -> {
                Objects.requireNonNull(fake).set(command[1], Long.parseLong(command[2]));
                return "set";
            }
            case "complaint" -> {
                return fake == null ? "none" : fake.complaint().orElse("none");
            }
            default -> throw new IllegalArgumentException("no such command: " + command[0]);
        }
    }

    /** {@code start SOCKET PROCESSES PATIENCE CHUNK}: answers when it ends. */
    private void start(String[] command) {
        StorageFile from = Objects.requireNonNull(file);
        Duration patience = Duration.ofMillis(Long.parseLong(command[3]));
        SharedRead shared = SharedRead.ofProcesses(Path.of(command[1]), Integer.parseInt(command[2]), patience)
                .part("part", Long.parseLong(command[4]));
        long before = bytesRead();
        long begin = System.nanoTime();
        running = shared.join(
                        backend,
                        Transfer.read(from.all(), Objects.requireNonNull(buffer).all()))
                .subscribe(
                        done -> System.out.println(done(done, bytesRead() - before, System.nanoTime() - begin)),
                        e -> System.out.println("failed " + e));
    }

    /** {@code load FILE SOCKET PROCESSES PATIENCE}: answers when it ends, with the sum of the array, and the log. */
    private void load(String[] command) {
        SharedLoad shared = SharedLoad.ofProcesses(
                Path.of(command[2]), Integer.parseInt(command[3]), Duration.ofMillis(Long.parseLong(command[4])));
        ByteArrayOutputStream log = new ByteArrayOutputStream();
        PrintStream err = System.err;
        System.setErr(new PrintStream(log, true, StandardCharsets.UTF_8));
        long before = bytesRead();
        running = Loader.of(backend)
                .shared(shared)
                .load(Path.of(command[1]))
                .publishOn(Schedulers.boundedElastic()) // for the sum, which waits
                .subscribe(
                        loaded -> {
                            System.setErr(err);
                            try (loaded) {
                                long read = bytesRead() - before;
                                BufferRegion array = loaded.arrays().get(0).region();
                                String logged =
                                        log.toString(StandardCharsets.UTF_8).replace('\n', ' ');
                                System.out.println("loaded " + read + " " + sum(array) + " " + logged);
                            }
                        },
                        e -> System.out.println("failed " + e));
    }

    private static String done(Completion done, long bytesRead, long nanos) {
        return "done " + done.bytes() + " " + bytesRead + " " + nanos + " " + done.path() + " " + done.reason();
    }

    /** Returns the bytes that this process has read by system calls. */
    private static long bytesRead() {
        try {
            String line = Files.readAllLines(Path.of("/proc/self/io")).get(0); // rchar: N
            return Long.parseLong(line.substring(line.indexOf(' ') + 1));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static long sum(BufferRegion region) {
        CRC32 crc = new CRC32();
        for (long at = 0; at < region.length(); at += PIECE) {
            ByteBuffer piece = ByteBuffer.allocateDirect((int) Math.min(PIECE, region.length() - at));
            GpuFixture.get(region.buffer().download(region.offset() + at, piece));
            crc.update(piece.rewind());
        }
        return crc.getValue();
    }
}
