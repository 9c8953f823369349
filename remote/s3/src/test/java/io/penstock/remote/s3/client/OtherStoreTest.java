// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import io.penstock.tck.Require;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.FileAlreadyExistsException;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Flux;
import reactor.core.publisher.Mono;

/** The same against a store that shares no code with the other one: Adobe's S3Mock, in a process of its own. */
@Tag("once")
@Tag("slow")
@ExtendWith(Certificates.class)
class OtherStoreTest {

    private static final Path JAR = Path.of(System.getProperty("basedir", "")).resolve("target/stores/s3mock.jar");
    private static final Pattern STARTED = Pattern.compile("Tomcat started on ports .*?(\\d+) \\(http\\)");
    private static final int PART = 5 << 20;
    private static final byte[] DATA = new byte[2 * PART + 12_345];

    private static final HttpClient HTTP = HttpClient.newHttpClient();
    private static Process store;
    private static URI endpoint;
    private Backend backend;

    @BeforeAll
    static void start() throws Exception {
        Require.backend("s3mock", Files.exists(JAR) ? null : "no " + JAR + ": build with -Pfull");
        new Random(22).nextBytes(DATA);
        store = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-XX:TieredStopAtLevel=1",
                        "-jar",
                        JAR.toString(),
                        "--server.port=0",
                        "--http.port=0")
                .redirectErrorStream(true)
                .start();
        BufferedReader printed =
                new BufferedReader(new InputStreamReader(store.getInputStream(), StandardCharsets.UTF_8));
        Matcher port = STARTED.matcher("");
        for (String line = printed.readLine(); !port.reset(String.valueOf(line)).find(); line = printed.readLine()) {
            assertThat(line).as("the store has ended").isNotNull();
        }
        Thread reader = new Thread(() -> printed.lines().forEach(line -> {}), "store's output");
        reader.setDaemon(true);
        reader.start();
        endpoint = URI.create("http://localhost:" + port.group(1));
        assertThat(ask("PUT", "/bucket", new byte[0])).isEmpty();
        System.setProperty("penstock.s3.endpoint", endpoint.toString()); // for paths
    }

    @AfterAll
    static void stop() throws Exception {
        System.clearProperty("penstock.s3.endpoint");
        if (store != null) {
            store.destroyForcibly().waitFor();
        }
    }

    /** Asks the store without Penstock; it checks no signatures. */
    private static String ask(String method, String path, byte[] body) throws Exception {
        return HTTP.send(
                        HttpRequest.newBuilder(endpoint.resolve(path))
                                .method(method, BodyPublishers.ofByteArray(body))
                                .build(),
                        BodyHandlers.ofString(StandardCharsets.ISO_8859_1))
                .body();
    }

    @BeforeEach
    void open() {
        backend = Backends.open("host", options());
    }

    private static Options options() {
        return Options.none()
                .with(S3Options.ENDPOINT, endpoint.toString())
                .with(S3Options.PART_BYTES, (long) PART)
                .with("penstock.close-timeout", "2s");
    }

    @AfterEach
    void close() throws Exception {
        assertThat(backend.counters().files()).isZero();
        assertThat(backend.counters().buffers()).isZero();
        backend.close();
        assertThat(ask("GET", "/bucket?uploads", new byte[0])).doesNotContain("<UploadId>");
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(60));
    }

    private static Path object(String key) {
        return Path.of(S3Server.uri(key));
    }

    private void write(String key, byte[] bytes, FileOption... options) {
        try (StorageFile file = get(backend.openFile(S3Server.uri(key), options));
                DeviceBuffer buffer = get(backend.allocate(Math.max(1, bytes.length)))) {
            if (bytes.length > 0) {
                ByteBuffer direct =
                        ByteBuffer.allocateDirect(bytes.length).put(bytes).flip();
                get(buffer.upload(0, direct));
                get(backend.submit(Transfer.write(buffer.region(0, bytes.length), file.region(0, bytes.length))));
            }
            get(file.sync());
        }
    }

    private byte[] read(String key, long offset, int bytes) {
        try (StorageFile file = get(backend.openFile(S3Server.uri(key)));
                DeviceBuffer buffer = get(backend.allocate(bytes))) {
            get(backend.submit(Transfer.read(file.region(offset, bytes), buffer.all())));
            ByteBuffer direct = ByteBuffer.allocateDirect(bytes);
            get(buffer.download(0, direct));
            byte[] array = new byte[bytes];
            direct.rewind().get(array);
            return array;
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 4096, PART, PART + 1, 2 * PART + 12_345})
    void anObjectIsWrittenInPartsAndReadByRanges(int bytes) {
        byte[] data = Arrays.copyOf(DATA, bytes);
        write("object", data, FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE);
        assertThat(read("object", 0, bytes)).isEqualTo(data);
        assertThat(read("object", bytes / 3, bytes - bytes / 3)).isEqualTo(Arrays.copyOfRange(data, bytes / 3, bytes));
    }

    @ParameterizedTest
    @EnumSource(S3Options.Checksum.class)
    void eachChecksumIsTaken(S3Options.Checksum checksum) {
        backend.close();
        backend = Backends.open("host", options().with(S3Options.CHECKSUM, checksum));
        write("summed", DATA, FileOption.WRITE, FileOption.CREATE, FileOption.TRUNCATE);
        assertThat(read("summed", 0, DATA.length)).isEqualTo(DATA);
    }

    @ParameterizedTest
    @ValueSource(strings = {"a b+c.bin", "deep/er/\u00e9&=?.bin", "tilde~'()!*.bin", "per%20cent"})
    void namesOfObjectsMayHaveAnyCharacters(String key) throws Exception {
        byte[] data = Arrays.copyOf(DATA, 1000);
        Path path = Path.of(URI.create("s3://bucket/")).resolve(key);
        get(backend.write(path, Flux.just(ByteBuffer.wrap(data))));
        assertThat(Files.readAllBytes(path)).isEqualTo(data);
        assertThat(ask("GET", "/bucket?list-type=2", new byte[0])).contains("<Key>");
    }

    @Test
    void aFolderHasItsObjectsOnSeveralPages() throws Exception {
        for (int i = 0; i < 1005; i++) {
            ask("PUT", String.format("/bucket/many/%04d", i), new byte[] {1});
        }
        try (Stream<Path> all = Files.list(Path.of(URI.create("s3://bucket/many/")))) {
            assertThat(all.map(path -> path.getFileName().toString()))
                    .hasSize(1005)
                    .doesNotHaveDuplicates()
                    .contains("0000", "1004");
        }
    }

    @Test
    void whatIsAbsentIsReportedAsThat() {
        assertThatThrownBy(() -> read("absent", 0, 1)).hasRootCauseInstanceOf(NoSuchFileException.class);
    }

    @Test
    void anObjectThatMustBeNewIsNotWrittenOver() throws Exception {
        ask("PUT", "/bucket/there", new byte[] {1, 2, 3});
        assertThatThrownBy(() -> write("there", new byte[10], FileOption.WRITE, FileOption.CREATE_NEW))
                .hasRootCauseInstanceOf(FileAlreadyExistsException.class);
        assertThat(ask("GET", "/bucket/there", new byte[0])).hasSize(3);
    }

    @Test
    void anObjectThatChangesBetweenTwoReadsFailsInsteadOfMixing() throws Exception {
        ask("PUT", "/bucket/changing", new byte[100]);
        try (StorageFile file = get(backend.openFile(S3Server.uri("changing")));
                DeviceBuffer buffer = get(backend.allocate(100))) {
            get(backend.submit(Transfer.read(file.region(0, 50), buffer.region(0, 50))));
            byte[] other = new byte[100];
            Arrays.fill(other, (byte) 7);
            ask("PUT", "/bucket/changing", other);
            assertThatThrownBy(() -> get(backend.submit(Transfer.read(file.region(50, 50), buffer.region(50, 50)))))
                    .isInstanceOf(PermanentStorageException.class);
        }
    }

    @Test
    void anErrorOfTheSourceLeavesNoObjectAndNoParts() {
        Flux<ByteBuffer> parts = Flux.range(0, 2)
                .map(i -> ByteBuffer.allocate(PART))
                .concatWith(Flux.error(new IllegalStateException("cut off")));
        assertThatThrownBy(() -> get(backend.write(object("cut"), parts))).hasMessageContaining("cut off");
        assertThatThrownBy(() -> read("cut", 0, 1)).hasRootCauseInstanceOf(NoSuchFileException.class);
    }
}
