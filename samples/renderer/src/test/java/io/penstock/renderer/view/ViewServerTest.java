// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.cli.testing.GpuFakes;
import io.penstock.renderer.volume.Phantom;
import io.penstock.renderer.volume.VoxelType;
import io.penstock.tck.Require;
import java.awt.image.BufferedImage;
import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteOrder;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CancellationException;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

@Tag("slow")
class ViewServerTest {

    private static final List<String> KINDS = List.of("modules", "streams", "events", "allocations", "pinned");

    @TempDir
    Path folder;

    private final List<Shown> open = new ArrayList<>();

    @AfterEach
    void close() {
        open.forEach(Shown::close);
    }

    private Shown show(Phantom phantom) throws IOException {
        Shown shown = new Shown(folder, phantom);
        open.add(shown);
        return shown;
    }

    private static Phantom ball(int side) {
        return Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, side, side, side)
                .spacing(1, 1.5, 0.75);
    }

    private static BufferedImage image(byte[] jpeg) throws IOException {
        return ImageIO.read(new ByteArrayInputStream(jpeg));
    }

    @Test
    void eachRequestGetsOneFrameWithItsSettings() throws IOException {
        Shown shown = show(ball(64));
        try (Page page = shown.connect()) {
            assertThat(page.next("\"type\":\"hello\""))
                    .contains("\"name\":\"phantom.nii\"", "\"columns\":64", "\"sliceBytes\":4096")
                    .contains("{\"name\":\"host\"", "\"remedy\":");
            byte[] mip = page.frame();
            assertThat(image(mip).getWidth()).isEqualTo(128);
            assertThat(page.frame()).as("the same settings").isEqualTo(mip);
            assertThat(page.with("azimuth", 120).frame()).isNotEqualTo(mip);
            assertThat(page.with("zoom", 2).frame()).isNotEqualTo(mip);
            for (String view : List.of("x", "y", "z", "shaded")) {
                assertThat(image(page.with("view", view).with("side", 256).frame())
                                .getHeight())
                        .isEqualTo(256);
            }
            assertThat(page.next("\"type\":\"stats\"")).contains("\"inFlight\":", "\"staging\":[]");
            assertThat(shown.loop.frames()).as("none that was not asked for").isEqualTo(8);
        }
        shown.assertNothingIsLeft();
    }

    @Test
    void theLimitsOfTheBudgetTakeEffectWithTheNextFrame() throws IOException {
        try (Page page = show(ball(64)).connect()) {
            page.with("chunk", 8192).with("depth", 3).ask();
            assertThat(page.next("\"type\":\"frame\""))
                    .contains("\"chunks\":32", "\"chunkBytes\":8192", "\"depth\":3", "\"path\":\"HOST\"");
        }
    }

    /** As a proxy may pass it on. */
    @Test
    void aRequestInFragmentsIsOneRequest() throws IOException {
        Shown shown = show(ball(64));
        try (Page page = shown.connect()) {
            page.askInFragments();
            assertThat(page.next("\"type\":\"frame\"", "\"type\":\"error\"")).contains("\"side\":128");
        }
        shown.assertNothingIsLeft();
    }

    @ParameterizedTest
    @CsvSource({
        "budget, 262144, 'budget must be at most 262143 bytes for this volume, was 262144'",
        "budget, 9000, a budget of 9000 bytes is too small",
        "budget, much, 'budget must be a whole number, was ''much'''",
        "depth, 1, depth must be 2 to 64",
        "chunk, 0, chunk must be at least 1 byte",
        "view, w, 'view must be x, y, z, mip or shaded, was ''w'''",
        "side, 1000000, side must be a multiple of 16",
        "azimuth, NaN, azimuth must be finite",
        "zoom, wide, 'zoom must be a number, was ''wide'''",
        "backend, none, there is no backend 'none'",
        "backend, dx11, backend 'dx11' cannot be used",
        "path, scenic, backend host has no paths to choose: path must be empty"
    })
    void aRequestThatCannotBeMetIsAnsweredInWords(String field, String value, String words) throws IOException {
        Shown shown = show(ball(64));
        try (Page page = shown.connect()) {
            assertThat(page.with(field, value).error())
                    .contains(words.replace("\"", "\\\""))
                    .as("the page has the list of all backends")
                    .doesNotContain("providers");
            Page again = shown.connect();
            again.frame();
            again.close();
        }
        shown.assertNothingIsLeft();
    }

    @Test
    void aViewerThatReadsNothingGetsFewFramesAndDelaysNobody() throws IOException {
        Shown shown = show(Phantom.noise(512, 512, 4));
        int many = 60;
        try (Page slow = shown.connect();
                Page other = shown.connect()) {
            slow.with("view", "z").with("side", 512).with("budget", 700_000);
            for (int i = 0; i < many; i++) {
                slow.ask();
            }
            other.with("view", "z").with("budget", 700_000);
            for (int i = 0; i < many; i++) {
                other.frame();
            }
            assertThat(shown.loop.frames() - many)
                    .as("frames drawn for the one that reads nothing")
                    .isBetween(1L, many / 2L);
            slow.next("\"type\":\"frame\"");
        }
        shown.assertNothingIsLeft();
    }

    @Test
    void aFrameWhoseViewerLeavesEndsAtItsNextSlab() throws IOException {
        Shown shown = show(ball(160));
        Viewer viewer = new Viewer();
        FrameRequest request = FrameRequest.parse(
                "backend=host&path=&view=mip&azimuth=1&elevation=2&side=512&zoom=1&level=0.5&window=1&budget=2000000&chunk=1&depth=2",
                shown.volume.header().volumeBytes());
        var frame = shown.loop.draw(viewer, request).toFuture();
        Shown.await(() -> viewer.source != null && viewer.source.meter().movedBytes() > 0);
        Backend backend = viewer.source.backend();
        assertThat(frame).isNotDone();
        viewer.leave();
        assertThatThrownBy(frame::join)
                .isInstanceOf(CancellationException.class)
                .satisfies(
                        left -> // which JDK 25 wraps
                        assertThat(left.getCause() == null ? left : left.getCause())
                                .hasMessage("the viewer has left"));
        assertThat(shown.loop.frames()).isZero();
        Shown.await(() -> backend.counters().pins() == 0 && backend.counters().files() == 0);
        shown.loop.release(viewer);
        assertThat(shown.loop.openSources()).isZero();
    }

    @Test
    void viewersThatBreakOffInMidFrameLeaveNothing() throws IOException {
        Shown shown = show(ball(96));
        for (int i = 0; i < 5; i++) {
            Page page = shown.connect();
            page.with("budget", 500_000).with("chunk", 1).with("side", 512).ask();
            page.abort();
        }
        shown.assertNothingIsLeft();
        try (Page page = shown.connect()) {
            page.frame();
        }
    }

    @Test
    void viewersOfDifferentBackendsAreServedInTurnAndABackendIsClosedWithItsLastViewer() throws IOException {
        Backends.list().stream()
                .filter(listing -> listing.name().equals("opencl-ssg"))
                .forEach(listing -> Require.backend("opencl", listing.availability()));
        Shown shown = show(ball(64));
        try (Page host = shown.connect();
                Page same = shown.connect();
                Page device = shown.connect()) {
            device.with("backend", "opencl-ssg").with("path", "staged");
            byte[] picture = host.frame();
            assertThat(device.frame()).as("by kernels").isEqualTo(picture);
            assertThat(same.frame()).isEqualTo(picture);
            assertThat(shown.loop.openSources()).isEqualTo(2);
            assertThat(device.next("\"staging\":[["))
                    .as("states of the staging buffers, sampled")
                    .containsPattern("\"staging\":\\[\\[\"[0-4]+\",");
            host.abort();
            device.with("backend", "host").with("path", "").frame();
            assertThat(shown.loop.openSources()).as("it has left the other").isEqualTo(1);
        }
        shown.assertNothingIsLeft();
    }

    @Test
    void pingsAreAnsweredAndAViewerThatReadsNoAnswerIsNotReadFrom() throws IOException {
        Shown shown = show(ball(64));
        try (Page page = shown.connect()) {
            assertThat(page.next("\"type\":\"hello\"")).isNotEmpty();
            page.ping();
            assertThat(page.next("pong")).isEqualTo("pong of 125 bytes");
        }
        try (PingFlood flood = new PingFlood(shown.port())) {
            assertThat(flood.sentUntilFull(64 << 20)).isLessThan(64 << 20);
        }
        shown.assertNothingIsLeft();
    }

    @Test
    void aVolumeThatShrinksInMidStreamIsAnErrorInWords() throws IOException {
        Shown shown = show(ball(64));
        try (Page page = shown.connect()) {
            page.frame();
            try (FileChannel volume = FileChannel.open(shown.file, StandardOpenOption.WRITE)) {
                volume.truncate(100_000);
            }
            assertThat(page.error()).contains("the volume was truncated while it was read");
        }
        shown.assertNothingIsLeft();
    }

    @Test
    void aVolumeThatIsGoneIsNamed() throws IOException {
        Shown shown = show(ball(64));
        try (Page page = shown.connect()) {
            Files.delete(shown.file);
            assertThat(page.error()).contains("there is no file " + shown.file);
        }
        shown.assertNothingIsLeft();
    }

    @Test
    void aVolumeThatWasReplacedByOneOfAnotherGeometryIsAnErrorInWords() throws IOException {
        Shown shown = show(ball(64));
        try (Page page = shown.connect()) {
            byte[] picture = page.frame();
            byte[] before = Files.readAllBytes(shown.file);
            Path other = Files.write(
                    folder.resolve("other.nii"),
                    Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 128, 64, 64)
                            .bytes());
            Files.move(other, shown.file, StandardCopyOption.REPLACE_EXISTING);
            assertThat(page.error())
                    .contains("phantom.nii is another volume than when it was opened: start penstock view again");
            Files.write(shown.file, before);
            assertThat(page.frame()).isEqualTo(picture);
        }
        shown.assertNothingIsLeft();
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 40})
    void aDeviceThatFailsInMidFrameIsAnErrorInWordsAndIsOpenedAnew(int nth) throws IOException {
        GpuFakes.find();
        try {
            Shown shown = show(ball(64));
            List<Long> before;
            try (Page page = shown.connect()) {
                page.with("backend", "cufile").with("path", "staged").with("chunk", 1);
                byte[] picture = page.frame();
                page.with("backend", "host").with("path", "").frame();
                before = KINDS.stream().map(GpuFakes::live).toList();
                page.with("backend", "cufile").with("path", "staged");
                GpuFakes.fail("cuMemcpyHtoDAsync", nth, 700);
                assertThat(page.error()).contains("CUDA_ERROR_ILLEGAL_ADDRESS");
                assertThat(shown.loop.openSources()).isZero();
                assertThat(KINDS.stream().map(GpuFakes::live)).as("%s", KINDS).isEqualTo(before);
                assertThat(page.frame()).isEqualTo(picture);
            }
            shown.assertNothingIsLeft();
        } finally {
            GpuFakes.forget();
        }
    }

    @Test
    void pagesOfOtherOriginsGetNoSocket() throws IOException {
        Shown shown = show(ball(64));
        int port = shown.port();
        for (String origin : List.of("http://localhost:" + port, "http://evil.example", "null", "http://127.0.0.1:1")) {
            assertThatThrownBy(() -> Page.of(port, origin))
                    .as(origin)
                    .hasMessageContaining("WebSocketHandshakeException");
        }
        assertThat(shown.server.viewers()).isZero();
        Page.of(port, "https://view.example").close();
    }

    @Test
    void theViewersAreLimited() throws IOException {
        Shown shown = show(ball(64));
        List<Page> pages = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            pages.add(shown.connect());
        }
        assertThatThrownBy(shown::connect).hasMessageContaining("WebSocketHandshakeException");
        pages.forEach(Page::close);
        shown.assertNothingIsLeft();
        shown.connect().close();
    }

    @Test
    void viewersAreDisconnectedWithTheServer() throws IOException {
        Shown shown = show(ball(64));
        try (Page page = shown.connect()) {
            page.frame();
            shown.restart();
            assertThat(shown.loop.openSources()).isZero();
        }
        shown.assertNothingIsLeft();
    }

    @Test
    void thePageComesWithAPolicyAndNothingElseIsServed() throws Exception {
        Shown shown = show(ball(64));
        HttpResponse<String> page = get(shown, "/");
        assertThat(page.body()).contains("<title>Penstock view</title>");
        assertThat(page.headers().firstValue("content-security-policy").orElseThrow())
                .contains("default-src 'none'", "frame-ancestors 'none'");
        assertThat(page.headers().firstValue("content-type")).hasValue("text/html; charset=utf-8");
        assertThat(get(shown, "/view.js").body()).contains("WebSocket");
        assertThat(get(shown, "/view.css").body()).contains("prefers-color-scheme");
        assertThat(get(shown, "/other").statusCode()).isEqualTo(404);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/", "/view.js", "/view.css", "/stream"})
    void headIsAnsweredAsGetWithoutABody(String path) throws Exception {
        Shown shown = show(ball(64));
        HttpResponse<String> whole = get(shown, path);
        HttpResponse<String> head = send(shown, path, "HEAD");
        assertThat(head.statusCode()).isEqualTo(whole.statusCode()).isNotEqualTo(404);
        assertThat(head.headers().map()).isEqualTo(whole.headers().map());
        assertThat(head.body()).isEmpty();
    }

    @Test
    void aRequestThatIsNoHandshakeIsToldToUpgradeAndIsNoViewer() throws Exception {
        Shown shown = show(ball(64));
        HttpResponse<String> refused = get(shown, "/stream");
        assertThat(refused.statusCode()).isEqualTo(426);
        assertThat(refused.headers().firstValue("upgrade")).hasValue("websocket");
        assertThat(shown.server.viewers()).isZero();
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "Upgrade: h2c, websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13",
                "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 99\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
                "Upgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ=="
            })
    void aHandshakeThatLacksSomethingIsAnsweredOnAConnectionThatIsKept(String headers) throws Exception {
        Shown shown = show(ball(64));
        String host = "127.0.0.1:" + shown.port();
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), shown.port())) {
            socket.setSoTimeout(20_000);
            BufferedReader answers =
                    new BufferedReader(new InputStreamReader(socket.getInputStream(), StandardCharsets.US_ASCII));
            for (int i = 0; i < 2; i++) {
                String request = "GET /stream HTTP/1.1\r\nHost: " + host + "\r\nOrigin: http://" + host + "\r\n"
                        + headers + "\r\n\r\n";
                socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
                assertThat(answers.readLine()).startsWith("HTTP/1.1 426");
                assertThat(answers.lines().takeWhile(line -> !line.isEmpty())).contains("sec-websocket-version: 13");
            }
        }
        assertThat(shown.server.viewers()).isZero();
    }

    private static HttpResponse<String> get(Shown shown, String path) throws IOException, InterruptedException {
        return send(shown, path, "GET");
    }

    private static HttpResponse<String> send(Shown shown, String path, String method)
            throws IOException, InterruptedException {
        URI uri = URI.create("http://127.0.0.1:" + shown.port() + path);
        HttpRequest request = HttpRequest.newBuilder(uri)
                .method(method, HttpRequest.BodyPublishers.noBody())
                .build();
        return HttpClient.newHttpClient().send(request, HttpResponse.BodyHandlers.ofString());
    }
}
