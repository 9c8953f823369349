// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodySubscribers;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.FlowAdapters;
import reactor.core.publisher.BaseSubscriber;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/**
 * Reads a file of a server whole, and again, until its time is over; an operation is a range of 4 MiB. Counts what that
 * allocates in the heap.
 */
abstract class HttpRead implements Contender {

    static final int RANGE = 4 << 20;
    private static final int PAGE = 4096;
    static final int RANGES = (int) (TestFile.BYTES / RANGE);

    private final HttpServer server;
    final URI uri;
    private long read;
    private long allocated;

    HttpRead(Path file) throws IOException {
        server = new HttpServer(file.toAbsolutePath().getParent());
        uri = server.uri(file);
    }

    /** Returns the server, which is closed with this. */
    final HttpServer server() {
        return server;
    }

    /** Returns the URL of the server, as an object store. */
    final URI endpoint() {
        return uri.resolve("/");
    }

    /** Returns the key of the file, as an object in {@link HttpServer#BUCKET}. */
    final String key() {
        return uri.getPath().substring(1);
    }

    /** Reads the file once. Returns the processor time of other processes that did so, in nanoseconds. */
    abstract long read() throws Exception;

    @Override
    public Measure run(long nanos) throws Exception {
        long begin = System.nanoTime();
        long[] elsewhere = new long[1];
        Measure here = Measure.of(() -> {
            long done = 0;
            do {
                elsewhere[0] += read();
                done += RANGES;
            } while (System.nanoTime() - begin < nanos);
            return done;
        });
        allocated += here.allocated();
        read += here.operations() * RANGE;
        return new Measure(here.operations(), here.nanos(), here.cpuNanos() + elsewhere[0]);
    }

    @Override
    public String remark() {
        return String.format(Locale.ROOT, "%.4f bytes of heap per byte", (double) allocated / Math.max(1, read));
    }

    @Override
    public void close() throws Exception {
        server.close();
    }

    /**
     * Checks bytes, and spoils each page of them: a run that moves nothing must not pass by the bytes of the run
     * before.
     */
    static void verify(ByteBuffer bytes, long offset) throws IOException {
        TestFile.verify(bytes.order(ByteOrder.LITTLE_ENDIAN), offset);
        for (int at = 0; at < bytes.capacity(); at += PAGE) {
            bytes.putLong(at, ~bytes.getLong(at));
        }
    }

    /** Penstock, by default options but for the server. */
    static final class Penstock extends HttpRead {

        private final Backend backend;
        private final StorageFile file;
        private final DeviceBuffer buffer;

        /**
         * Opens the file.
         *
         * @param isObject whether by an {@code s3:} URI; signed if the environment has keys
         */
        Penstock(Path path, boolean isObject) throws IOException {
            super(path);
            Options options = Options.none().with(S3Options.ENDPOINT, endpoint().toString());
            backend = Backends.open(
                    "host",
                    System.getenv("AWS_ACCESS_KEY_ID") == null
                            ? options.with(S3Options.CREDENTIALS, S3Options.Credentials.NONE)
                            : options);
            try {
                file = backend.openFile(isObject ? URI.create("s3://" + HttpServer.BUCKET + "/" + key()) : uri)
                        .block();
                buffer = backend.allocate(TestFile.BYTES).block();
            } catch (RuntimeException e) { // nobody else closes what has not been created
                backend.close();
                server().close();
                throw e;
            }
        }

        @Override
        long read() throws IOException {
            Completion completion =
                    backend.submit(Transfer.read(file.all(), buffer.all())).block();
            if (completion.bytes() != TestFile.BYTES) {
                throw new IOException("only " + completion.bytes() + " bytes arrived");
            }
            return 0;
        }

        @Override
        public void verify() throws IOException {
            verify(buffer.hostView().orElseThrow().buffer(0, (int) TestFile.BYTES), 0);
        }

        @Override
        public void close() throws Exception {
            file.close();
            backend.close();
            super.close();
        }
    }

    /** The JDK's client, with as many ranges in flight as asked, copied to where they belong. */
    static final class Jdk extends HttpRead {

        private static final int SLOTS =
                64; // many more than ranges in flight: a range is behind the range that had its slot

        private final HttpClient client =
                HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
        private final ByteBuffer target = ByteBuffer.allocateDirect(SLOTS * RANGE);
        private final int inFlight;

        Jdk(Path path, int inFlight) throws IOException {
            super(path);
            this.inFlight = inFlight;
        }

        @Override
        long read() {
            Flux.range(0, RANGES)
                    .flatMap(
                            range -> Mono.fromFuture(() -> client.sendAsync(request(range), head -> body(range))),
                            inFlight)
                    .doOnNext(Jdk::check)
                    .then()
                    .block();
            return 0;
        }

        private static void check(HttpResponse<Void> response) {
            if (response.statusCode() != 206) {
                throw new IllegalStateException("status " + response.statusCode());
            }
        }

        private HttpRequest request(int range) {
            long from = (long) range * RANGE;
            return HttpRequest.newBuilder(uri)
                    .header("Range", "bytes=" + from + "-" + (from + RANGE - 1))
                    .build();
        }

        private HttpResponse.BodySubscriber<Void> body(int range) {
            ByteBuffer slot = target.slice(range % SLOTS * RANGE, RANGE);
            return BodySubscribers.fromSubscriber(FlowAdapters.toFlowSubscriber(new BaseSubscriber<List<ByteBuffer>>() {
                @Override
                protected void hookOnNext(List<ByteBuffer> parts) {
                    parts.forEach(slot::put);
                }
            }));
        }

        @Override
        public void verify() throws IOException {
            verify(target.duplicate(), TestFile.BYTES - target.capacity());
        }
    }

    /** curl, with parallel ranges of equal size; a process for each pass. */
    static final class Curl extends HttpRead {

        private static final Pattern TIMES = Pattern.compile("(\\d+)m([0-9.]+)s (\\d+)m([0-9.]+)s\\s*$");

        private final int parallel;
        private final @Nullable Path kept;

        /**
         * Creates it.
         *
         * @param isKept whether it writes a file for each range, in memory; else it throws the bytes away
         */
        Curl(Path path, int parallel, boolean isKept) throws IOException {
            super(path);
            this.parallel = parallel;
            this.kept = isKept ? Files.createTempDirectory(Path.of("/dev/shm"), "penstock-curl") : null;
        }

        @Override
        public String remark() {
            return kept == null ? "throws the bytes away" : "into files in memory";
        }

        private String output(int range) {
            return kept == null
                    ? "/dev/null"
                    : kept.resolve(Integer.toString(range)).toString();
        }

        private long start(int range) {
            return TestFile.BYTES * range / parallel;
        }

        @Override
        long read() throws Exception {
            List<String> ranges = new ArrayList<>();
            for (int i = 0; i < parallel; i++) {
                ranges.add("-f -r " + start(i) + "-" + (start(i + 1) - 1) + " -o " + output(i) + " " + uri);
            }
            Process curl = new ProcessBuilder(
                            "bash",
                            "-c",
                            "curl -s -Z --parallel-max " + parallel + " " + String.join(" --next ", ranges)
                                    + " || exit; times")
                    .redirectError(ProcessBuilder.Redirect.DISCARD)
                    .start();
            String times = new String(curl.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            Matcher children = TIMES.matcher(times); // the second line: of the shell's children
            if (curl.waitFor() != 0 || !children.find()) {
                throw new IOException("curl failed: " + times);
            }
            double seconds = 60.0 * (Integer.parseInt(children.group(1)) + Integer.parseInt(children.group(3)))
                    + Double.parseDouble(children.group(2))
                    + Double.parseDouble(children.group(4));
            return (long) (seconds * 1e9);
        }

        @Override
        public void verify() throws IOException {
            for (int i = 0; kept != null && i < parallel; i++) {
                Path file = Path.of(output(i));
                verify(ByteBuffer.wrap(Files.readAllBytes(file)), start(i));
                Files.delete(file);
            }
        }

        @Override
        public void close() throws Exception {
            for (int i = 0; kept != null && i < parallel; i++) {
                Files.deleteIfExists(Path.of(output(i)));
            }
            if (kept != null) {
                Files.delete(kept);
            }
            super.close();
        }
    }
}
