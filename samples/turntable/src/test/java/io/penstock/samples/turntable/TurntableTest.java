// SPDX-License-Identifier: Apache-2.0
package io.penstock.samples.turntable;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.micrometer.core.instrument.MeterRegistry;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.Completion;
import io.penstock.Options;
import io.penstock.TransferListener;
import io.penstock.engine.stream.Leases;
import io.penstock.renderer.Composer;
import io.penstock.renderer.Shot;
import io.penstock.renderer.View;
import io.penstock.renderer.VolumeReader;
import io.penstock.renderer.volume.NiftiFile;
import io.penstock.tck.Require;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.OutputStream;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.BasicFileAttributes;
import java.time.Duration;
import java.util.Random;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import reactor.core.Disposable;
import reactor.core.Disposables;
import reactor.test.StepVerifier;

class TurntableTest {

    private static final String SCAN = ""; // the renderer's own, in several slabs
    private static final long SCAN_BYTES = 181 * 217 * 181;

    @TempDir
    static Path folder;

    private static Path small;

    /** Writes a volume of noise, which is drawn soon: 16 slices of 20 by 24 bytes. */
    @BeforeAll
    static void writeVolume() throws IOException {
        ByteBuffer nifti = ByteBuffer.allocate(352 + 16 * 20 * 24).order(ByteOrder.LITTLE_ENDIAN);
        nifti.putInt(0, 348);
        nifti.putShort(40, (short) 3)
                .putShort(42, (short) 24)
                .putShort(44, (short) 20)
                .putShort(46, (short) 16);
        nifti.putShort(70, (short) 2).putShort(72, (short) 8); // bytes
        nifti.putFloat(80, 1).putFloat(84, 1).putFloat(88, 1).putFloat(108, 352);
        nifti.position(344).put("n+1\0".getBytes(StandardCharsets.US_ASCII)).position(352);
        Random random = new Random(9);
        while (nifti.hasRemaining()) {
            nifti.put((byte) random.nextInt());
        }
        small = Files.write(folder.resolve("small.nii"), nifti.array());
    }

    private static void require(String backend) {
        Backends.list().stream()
                .filter(listing -> listing.name().equals(backend))
                .forEach(listing -> Require.backend(backend.replace("-ssg", ""), listing.availability()));
    }

    private static ConfigurableApplicationContext start(String backend) {
        require(backend);
        return SpringApplication.run(
                TurntableServer.class,
                "--server.port=0",
                "--penstock.backend=" + backend,
                "--volume=" + small,
                "--logging.level.root=warn",
                "--spring.main.banner-mode=off");
    }

    private static int port(ConfigurableApplicationContext context) {
        return context.getEnvironment().getRequiredProperty("local.server.port", Integer.class);
    }

    private static HttpResponse<byte[]> get(ConfigurableApplicationContext context, String path)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://localhost:" + port(context) + path);
        return HttpClient.newHttpClient()
                .send(HttpRequest.newBuilder(uri).build(), HttpResponse.BodyHandlers.ofByteArray());
    }

    private static void assertNothingHeld(Backend backend) {
        assertThat(Leases.live()).isZero();
        assertThat(backend.counters().files()).isZero();
        assertThat(backend.counters().buffers()).isZero();
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "opencl-ssg", "gl"})
    void aDeviceDrawsWhatTheHostDraws(String backend) throws Exception {
        ByteArrayOutputStream expected = new ByteArrayOutputStream();
        try (Turntable host = Turntable.open("host", small.toString())) {
            for (int azimuth : new int[] {0, 120, 240}) {
                expected.writeBytes("--frame\r\nContent-Type: image/jpeg\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
                expected.writeBytes(host.picture(View.MIP, azimuth).block());
                expected.writeBytes("\r\n".getBytes(StandardCharsets.US_ASCII));
            }
        }
        expected.writeBytes("--frame--\r\n".getBytes(StandardCharsets.US_ASCII));
        try (ConfigurableApplicationContext context = start(backend)) {
            HttpResponse<byte[]> turn = get(context, "/turntable?view=MIP&frames=3");
            assertThat(turn.headers().firstValue("Content-Type")).hasValue("multipart/x-mixed-replace;boundary=frame");
            assertThat(turn.body()).isEqualTo(expected.toByteArray());
            assertThat(get(context, "/actuator/health").body())
                    .asString(StandardCharsets.US_ASCII)
                    .contains("\"backend\":\"" + backend + "\"");
            assertNothingHeld(context.getBean(Backend.class));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "opencl-ssg", "gl"})
    void aClientThatHangsUpLeavesNothing(String backend) throws Exception {
        ConfigurableApplicationContext context = start(backend);
        Backend drawing = context.getBean(Backend.class);
        try (context) {
            try (Socket client = new Socket("localhost", port(context))) {
                client.getOutputStream()
                        .write("GET /turntable?frames=1000000 HTTP/1.1\r\nHost: x\r\n\r\n"
                                .getBytes(StandardCharsets.US_ASCII));
                assertThat(client.getInputStream().readNBytes(1_000)).hasSize(1_000); // of the first picture
                client.setSoLinger(true, 0); // a reset, as of a client that died
            }
            MeterRegistry meters = context.getBean(MeterRegistry.class);
            while (meters.get("http.server.requests.active").longTaskTimer().activeTasks() > 0) {
                assertThat(Thread.interrupted()).as("waited in vain").isFalse(); // by the time limit of tests
                Thread.onSpinWait();
            }
        }
        assertNothingHeld(drawing);
    }

    @ParameterizedTest
    @ValueSource(strings = {"host", "opencl-ssg", "gl"})
    void aCancelEndsAPictureAtItsNextSlab(String backend) throws IOException {
        require(backend);
        AtomicLong moved = new AtomicLong();
        Disposable.Swap drawing = Disposables.swap();
        Turntable turntable = Turntable.open(backend, SCAN);
        Backend device = turntable.backend();
        try (turntable) {
            var unused = device.listen(new TransferListener() {
                @Override
                public void ended(Completion completion) {
                    moved.addAndGet(completion.bytes());
                    drawing.dispose();
                }
            });
            drawing.update(turntable.picture(View.MIP, 0).subscribe());
        }
        assertThat(moved).hasPositiveValue().hasValueLessThan(SCAN_BYTES);
        assertNothingHeld(device);
    }

    /** The processor, which fails as the test demands. */
    private static final class Failing implements Composer {

        private final Composer processor = Composer.open("host", Options.none());
        private boolean closes = true;

        @Override
        public Backend backend() {
            return processor.backend();
        }

        @Override
        public Drawn draw(VolumeReader reader, Shot shot, VolumeReader.Listener listener) {
            throw new NoClassDefFoundError("of the drawing");
        }

        @Override
        public void close() {
            processor.close();
            if (!closes) {
                throw new IllegalStateException("not closed");
            }
        }
    }

    private static NiftiFile inflated() throws IOException {
        Path packed = folder.resolve("small.nii.gz");
        try (OutputStream gzip = new GZIPOutputStream(Files.newOutputStream(packed))) {
            Files.copy(small, gzip);
        }
        return NiftiFile.open(packed, (to, done, all) -> {});
    }

    /** The response would never end otherwise. */
    @Test
    void anErrorOfTheDrawingIsThePicturesError() throws IOException {
        try (Turntable turntable = new Turntable(new Failing(), inflated())) {
            StepVerifier.create(turntable.picture(View.MIP, 0))
                    .expectErrorMessage("of the drawing")
                    .verify(Duration.ofSeconds(20));
        }
    }

    @Test
    void aVolumeThatCannotBeSurveyedIsClosed() throws IOException {
        NiftiFile volume = inflated();
        Object file =
                Files.readAttributes(volume.path(), BasicFileAttributes.class).fileKey();
        Failing composer = new Failing();
        composer.close();
        assertThatThrownBy(() -> new Turntable(composer, volume)).isInstanceOf(ClosedException.class);
        assertThat(Files.exists(volume.path())
                        && file.equals(Files.readAttributes(volume.path(), BasicFileAttributes.class)
                                .fileKey()))
                .as("the inflated file is there")
                .isFalse();
    }

    @Test
    void aComposerThatFailsToCloseLeavesNoThread() throws IOException {
        Failing composer = new Failing();
        composer.closes = false;
        Turntable turntable = new Turntable(composer, inflated());
        assertThatThrownBy(turntable::close).hasRootCauseMessage("not closed");
        StepVerifier.create(turntable.picture(View.MIP, 0))
                .expectError(RejectedExecutionException.class)
                .verify(Duration.ofSeconds(20));
    }

    @Test
    void anImpossibleTurnIsRefused() throws Exception {
        try (ConfigurableApplicationContext context = start("host")) {
            assertThat(get(context, "/turntable?frames=0").statusCode()).isEqualTo(400);
            assertThat(get(context, "/turntable?view=INSIDE").statusCode()).isEqualTo(400);
        }
    }
}
