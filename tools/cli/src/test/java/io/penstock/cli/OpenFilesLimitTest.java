// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.StorageFile;
import io.penstock.StreamPlan;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import io.penstock.WritePlan;
import io.penstock.file.PartFile;
import io.penstock.formats.Formats;
import io.penstock.formats.Loader;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import java.util.zip.ZipEntry;
import java.util.zip.ZipOutputStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import reactor.core.Exceptions;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;
import reactor.util.retry.Retry;

/** A process with as many open files as it may have: whatever opens one reports it, and works when some are closed. */
@Tag("slow")
@EnabledOnOs(value = OS.LINUX, disabledReason = "a POSIX shell sets the limit")
class OpenFilesLimitTest {

    private static final List<String> OPERATIONS =
            List.of("open", "pool", "stream", "write", "replace", "describe", "load", "decode", "http", "http read");

    /** The client of stores needs certificates, whether or not it uses TLS. */
    static final boolean CERTIFIED = Files.exists(Path.of("/etc/ssl/certs/ca-certificates.crt"));

    private static final int MOST_TRIES = 20;

    @Test
    void whateverOpensAFileIsTransientNamesTheLimitAndCanBeRetried(@TempDir Path folder) throws Exception {
        byte[] npy = npy();
        Files.write(folder.resolve("a.npy"), npy);
        try (OutputStream out = Files.newOutputStream(folder.resolve("a.npz"));
                ZipOutputStream zip = new ZipOutputStream(out)) {
            zip.putNextEntry(new ZipEntry("a.npy"));
            zip.write(npy);
        }
        try (ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress())) {
            daemon(() -> serve(server, npy));
            Process process = new ProcessBuilder(
                            "sh",
                            "-c",
                            "ulimit -n 512; exec \"$@\"",
                            "sh",
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "--enable-native-access=ALL-UNNAMED",
                            "-XX:-MaxFDLimit",
                            "-cp",
                            System.getProperty("surefire.test.class.path", System.getProperty("java.class.path")),
                            OpenFilesLimitTest.class.getName(),
                            folder.toString(),
                            "http://127.0.0.1:" + server.getLocalPort() + "/a.npy")
                    .redirectErrorStream(true)
                    .start();
            String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            assertThat(process.waitFor()).as(output).isZero();
            for (String operation : OPERATIONS) {
                assertRefused(output, operation, TransientStorageException.class.getName());
            }
            if (CERTIFIED) {
                assertRefused(output, "s3", TransientStorageException.class.getName());
            }
            assertRefused(output, "copy", "java.lang.IllegalStateException: penstock: "); // a command has text alone
        }
    }

    private static void assertRefused(String output, String operation, String refusal) {
        assertThat(output.lines().filter(line -> line.startsWith(operation + ": ")))
                .as(output)
                .satisfiesExactly(
                        refused -> assertThat(refused)
                                .startsWith(operation + ": " + refusal)
                                .contains("ulimit -n"),
                        again -> assertThat(again).isEqualTo(operation + ": done"));
    }

    /** Answers each request on a connection of its own, so that no client keeps one. */
    private static void serve(ServerSocket server, byte[] data) {
        try {
            while (true) {
                Socket socket = server.accept();
                daemon(() -> answer(socket, data));
            }
        } catch (IOException e) {
            return; // the test has ended
        }
    }

    private static void daemon(Runnable run) {
        Thread thread = new Thread(run);
        thread.setDaemon(true);
        thread.start();
    }

    private static void answer(Socket socket, byte[] data) {
        try (socket) {
            String head = "";
            while (!head.endsWith("\r\n\r\n")) {
                int next = socket.getInputStream().read();
                if (next < 0) {
                    return;
                }
                head += (char) next;
            }
            Matcher range = Pattern.compile("bytes=(\\d+)-(\\d+)").matcher(head);
            Matcher length = Pattern.compile("(?i)content-length: (\\d+)").matcher(head);
            String answer = "404 Not Found\r\nContent-Length: 0";
            byte[] body = {};
            if (head.startsWith("PUT /bucket/") && length.find()) {
                socket.getInputStream().readNBytes(Integer.parseInt(length.group(1)));
                answer = "200 OK\r\nETag: \"1\"\r\nContent-Length: 0";
            } else if (head.startsWith("GET /a.npy ") && range.find()) {
                int from = Integer.parseInt(range.group(1));
                body = Arrays.copyOfRange(data, from, Math.min(data.length, Integer.parseInt(range.group(2)) + 1));
                answer = "206 Partial Content\r\nETag: \"1\"\r\nContent-Range: bytes " + from + "-"
                        + (from + body.length - 1) + "/" + data.length + "\r\nContent-Length: " + body.length;
            }
            socket.getOutputStream()
                    .write(("HTTP/1.1 " + answer + "\r\nConnection: close\r\n\r\n")
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(body);
        } catch (IOException e) {
            return; // the client has
        }
    }

    private static byte[] npy() throws IOException {
        ByteArrayOutputStream npy = new ByteArrayOutputStream();
        String header = "{'descr': '|u1', 'fortran_order': False, 'shape': (1000,), }";
        npy.write(new byte[] {(byte) 0x93, 'N', 'U', 'M', 'P', 'Y', 1, 0, 118, 0});
        npy.write((header + " ".repeat(117 - header.length()) + "\n").getBytes(StandardCharsets.US_ASCII));
        npy.write(new byte[1000]);
        return npy.toByteArray();
    }

    /** Does each operation once, then without a descriptor left, then by the retry that the pages give. */
    public static void main(String[] arguments) throws Exception {
        Path folder = Path.of(arguments[0]);
        Path npy = folder.resolve("a.npy");
        URI uri = URI.create(arguments[1]);
        load();
        Options options = Options.none()
                .with(CommonOptions.REMOTE_ATTEMPTS, 2)
                .with("penstock.s3.endpoint", uri.resolve("/").toString())
                .with("penstock.s3.credentials", "none");
        try (Backend backend = Backends.open("host", options);
                Backend pool = Backends.open("host", options.with("penstock.host.io", "pool"))) {
            DeviceBuffer buffer = backend.allocate(1000).block();
            StorageFile remote = backend.openFile(uri).block();
            Mono<?> read = backend.submit(Transfer.read(remote.region(0, 1000), buffer.all()));
            Map<String, Mono<?>> operations = new LinkedHashMap<>();
            operations.put("open", backend.openFile(npy).doOnNext(StorageFile::close));
            operations.put("pool", pool.openFile(npy).doOnNext(StorageFile::close));
            operations.put(
                    "stream",
                    backend.stream(StreamPlan.of(npy), chunk -> Mono.just(1)).then());
            WritePlan plan = WritePlan.to(folder.resolve("new"), FileOption.WRITE, FileOption.CREATE);
            operations.put("write", backend.write(plan, Flux.just(ByteBuffer.allocate(10))));
            operations.put(
                    "replace",
                    PartFile.write(folder.resolve("replaced"), ByteBuffer.allocate(10), part -> Mono.just(true)));
            operations.put("describe", Formats.read(npy));
            operations.put("load", Loader.of(backend).load(npy).doOnNext(loaded -> loaded.close()));
            operations.put("decode", decoded(backend, folder.resolve("a.npz")));
            operations.put("http", backend.openFile(uri).doOnNext(StorageFile::close));
            operations.put("http read", read);
            WritePlan object = WritePlan.to(
                            Path.of(URI.create("s3://bucket/key")),
                            FileOption.WRITE,
                            FileOption.CREATE,
                            FileOption.TRUNCATE)
                    .sync();
            if (CERTIFIED) {
                operations.put("s3", backend.write(object, Flux.defer(() -> Flux.just(ByteBuffer.allocate(10)))));
            }
            operations.put("copy", copied(npy, folder.resolve("copied")));
            for (Map.Entry<String, Mono<?>> operation : operations.entrySet()) {
                operation.getValue().block();
                refuse(operation.getKey(), operation.getValue());
            }
        }
        System.exit(0);
    }

    private static Mono<?> decoded(Backend backend, Path npz) {
        var file = Formats.read(npz).block();
        return Loader.of(backend).load(file).doOnNext(loaded -> loaded.close());
    }

    private static Mono<?> copied(Path from, Path to) {
        return Mono.fromRunnable(() -> copy(from, to)).subscribeOn(Schedulers.boundedElastic());
    }

    private static void copy(Path from, Path to) {
        StringWriter text = new StringWriter();
        PrintWriter out = new PrintWriter(text, true);
        if (Penstock.run(out, out, "copy", "--force", from.toString(), to.toString()) != 0) {
            throw new IllegalStateException(text.toString().strip());
        }
    }

    private static void refuse(String name, Mono<?> operation) throws IOException {
        List<FileChannel> all = new ArrayList<>();
        Throwable refusal = null;
        for (int i = 0; i < MOST_TRIES && refusal == null; i++) { // a file of the call before may be closed only now
            exhaust(all);
            try {
                operation.block();
            } catch (RuntimeException e) {
                refusal = Exceptions.unwrap(e);
            }
        }
        System.out.println(name + ": " + refusal);
        Schedulers.parallel().schedule(() -> close(all), 300, TimeUnit.MILLISECONDS);
        operation
                .retryWhen(Retry.backoff(10, Duration.ofMillis(50))
                        .filter(e -> e instanceof TransientStorageException || e instanceof IllegalStateException))
                .block();
        System.out.println(name + ": done");
    }

    private static void exhaust(List<FileChannel> all) {
        try {
            while (true) {
                all.add(FileChannel.open(Path.of("/dev/null")));
            }
        } catch (IOException full) {
            return;
        }
    }

    private static void close(List<FileChannel> all) {
        for (FileChannel channel : all) {
            try {
                channel.close();
            } catch (IOException e) {
                throw new IllegalStateException(e);
            }
        }
    }

    /** Loads the classes that lie in folders, each of which would have to be opened; classes of jars need no file. */
    private static void load() throws IOException {
        for (String entry : System.getProperty("java.class.path").split(":")) {
            Path root = Path.of(entry);
            if (!Files.isDirectory(root)) {
                continue;
            }
            try (Stream<Path> files = Files.walk(root)) {
                files.map(file -> root.relativize(file).toString())
                        .filter(file -> file.endsWith(".class") && file.startsWith("io/penstock/"))
                        .map(file -> file.substring(0, file.length() - 6).replace('/', '.'))
                        .filter(name ->
                                name.matches("io\\.penstock\\.(engine|formats|file|remote|backend\\.host|cli|[A-Z]).*"))
                        .forEach(OpenFilesLimitTest::load);
            }
        }
    }

    private static void load(String name) {
        try {
            Class.forName(name, false, OpenFilesLimitTest.class.getClassLoader());
        } catch (ClassNotFoundException | LinkageError e) {
            return; // what it needs is not here
        }
    }
}
