// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.ucx.UcxExport;
import io.penstock.remote.ucx.UcxListener;
import io.penstock.remote.ucx.UcxOptions;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import reactor.core.publisher.Flux;

/** Reads memory of another process by UCX; an operation is a range of 4 MiB. */
final class UcxRead {

    static final int RANGE = 4 << 20;
    static final long BYTES = 32 << 20;

    private UcxRead() {}

    /** What the other process exports. */
    enum Memory {
        HOST,
        GPU,
        /** With {@link UcxOptions#GPU_DIRECT}. */
        GPU_BY_UCX
    }

    /** Runs in the other process: exports a buffer until its input ends. */
    static final class Exporter {

        /** Runs it; the argument is a {@link Memory}. */
        public static void main(String[] arguments) throws IOException {
            Memory memory = Memory.valueOf(arguments[0]);
            Options options = Options.none().with(UcxOptions.GPU_DIRECT, memory == Memory.GPU_BY_UCX);
            try (Backend backend = Backends.open("host");
                    Backend device = Backends.open(memory == Memory.HOST ? "host" : "cufile");
                    DeviceBuffer buffer = device.allocate(BYTES).block();
                    UcxListener listener = UcxListener.open(
                            backend, new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), options)) {
                ByteBuffer bytes = ByteBuffer.allocateDirect((int) BYTES).order(ByteOrder.LITTLE_ENDIAN);
                TestFile.fill(bytes, 0);
                buffer.upload(0, bytes.clear()).block();
                try (UcxExport export = listener.export(buffer)) {
                    System.out.println(export.uri());
                    while (System.in.read() >= 0) {
                        // until the reader is done
                    }
                }
            }
        }
    }

    /** Penstock: the buffer of another JVM, read whole and again by two transfers at a time. */
    static final class Penstock implements Contender {

        private final Backend backend = Backends.open("host", Options.none());
        private final Process exporter;
        private final StorageFile file;
        private final DeviceBuffer buffer;

        Penstock(String transports, Memory memory) throws IOException {
            ProcessBuilder builder = new ProcessBuilder(OtherProcess.java(List.of(), Exporter.class, memory.name()))
                    .redirectError(ProcessBuilder.Redirect.INHERIT);
            builder.environment().put("UCX_TLS", transports);
            exporter = builder.start();
            try {
                String uri = new BufferedReader(
                                new InputStreamReader(exporter.getInputStream(), StandardCharsets.UTF_8))
                        .readLine();
                if (uri == null) {
                    throw new IOException("the exporter has ended");
                }
                file = backend.openFile(URI.create(uri)).block();
                buffer = backend.allocate(BYTES).block();
            } catch (IOException | RuntimeException e) { // nobody else closes what has not been created
                close();
                throw e;
            }
        }

        @Override
        public Measure run(long nanos) throws Exception {
            long begin = System.nanoTime();
            return Measure.of(() -> {
                Long done = Flux.range(0, Integer.MAX_VALUE)
                        .takeWhile(i -> System.nanoTime() - begin < nanos)
                        .flatMap(i -> backend.submit(Transfer.read(file.all(), buffer.all())), 2)
                        .map(read -> read.bytes() / RANGE)
                        .reduce(0L, Long::sum)
                        .block();
                return done;
            });
        }

        @Override
        public void verify() throws IOException {
            HttpRead.verify(buffer.hostView().orElseThrow().buffer(0, (int) BYTES), 0);
        }

        @Override
        public void close() {
            backend.close();
            exporter.destroyForcibly();
        }
    }

    /** UCX's own program: active messages from one buffer into one, polled by both sides. */
    static final class Perftest implements Contender {

        private static final int ATTEMPTS = 20;
        private static final int WARM_UP = 3;
        private static final int OVERALL_MICROS = 3; // column of its last line

        private final String transports;
        private final boolean isAlike;
        private long iterations = 20;

        /**
         * Creates it.
         *
         * @param isAlike whether it moves as much memory as Penstock, in segments of the same size, and its endpoints
         *     detect the end of their peer, as Penstock's do; else one range, which stays in the caches, by
         *     UCX's defaults
         */
        Perftest(String transports, boolean isAlike) {
            this.transports = transports;
            this.isAlike = isAlike;
        }

        private long messageBytes() {
            return isAlike ? BYTES : RANGE;
        }

        @Override
        public String remark() {
            return "both sides poll; processor time not counted";
        }

        private List<String> clientArguments() {
            List<String> arguments = new ArrayList<>(List.of("127.0.0.1", "-t", "ucp_am_bw"));
            arguments.addAll(List.of("-s", "" + messageBytes(), "-n", "" + iterations, "-w", "" + WARM_UP, "-f"));
            if (isAlike) {
                arguments.add("-e");
            }
            return arguments;
        }

        private Process start(int port, List<String> arguments, ProcessBuilder.Redirect output) throws IOException {
            List<String> command = new ArrayList<>(List.of("ucx_perftest", "-p", "" + port));
            command.addAll(arguments);
            ProcessBuilder builder =
                    new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(output);
            builder.environment().put("UCX_TLS", transports);
            builder.environment().put("UCX_MM_ERROR_HANDLING", isAlike ? "y" : "n"); // as UcxContext does
            if (isAlike) {
                builder.environment().put("UCX_TCP_RX_SEG_SIZE", "512k"); // the same
            }
            return builder.start();
        }

        @Override
        public Measure run(long nanos) throws Exception {
            int port;
            try (ServerSocket free = new ServerSocket(0, 1, InetAddress.getLoopbackAddress())) {
                port = free.getLocalPort();
            }
            Process server = start(port, List.of(), ProcessBuilder.Redirect.DISCARD);
            try {
                String said = "";
                for (int attempt = 0; attempt < ATTEMPTS && !said.contains("+----"); attempt++) {
                    TimeUnit.MILLISECONDS.sleep(100); // it does not say when it listens
                    Process client = start(port, clientArguments(), ProcessBuilder.Redirect.PIPE);
                    said = new String(client.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                    client.waitFor();
                }
                String[] lines = said.strip().split("\n");
                String[] columns = lines[lines.length - 1].strip().split("\\s+");
                if (columns.length < 8) {
                    throw new IOException("ucx_perftest failed: " + said);
                }
                long took = (long) (Double.parseDouble(columns[OVERALL_MICROS]) * 1000 * iterations);
                Measure measure = new Measure(iterations * (messageBytes() / RANGE), took, 0);
                iterations = Math.max(5, (long) (iterations * ((double) nanos / took)));
                return measure;
            } finally {
                server.destroy();
                server.waitFor(5, TimeUnit.SECONDS);
            }
        }
    }
}
