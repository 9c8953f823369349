// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.view;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.penstock.cli.serve.Limits;
import io.penstock.renderer.volume.Phantom;
import io.penstock.renderer.volume.VoxelType;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.SocketException;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** Sockets that say what no page does: none of them writes into the log, or keeps a connection. */
@Tag("slow")
class HostileViewersTest {

    private static final int MOST_ANSWER = 1 << 16;
    private static final Duration LONG = Duration.ofHours(1);

    @TempDir
    Path folder;

    private Shown shown;

    @BeforeEach
    void show() throws IOException {
        shown = new Shown(folder, Phantom.ball(VoxelType.UINT8, ByteOrder.LITTLE_ENDIAN, 64, 64, 64));
    }

    @AfterEach
    void close() {
        shown.close();
    }

    /** As where a browser is killed, or a page is closed by a tab's crash. */
    @Test
    void aConnectionThatIsResetIsNotLogged() throws Exception {
        assertThat(errorsLogged(() -> {
                    for (int i = 0; i < 20; i++) {
                        Socket socket = viewer(shown);
                        socket.setSoLinger(true, 0);
                        socket.close();
                        shown.assertNothingIsLeft();
                    }
                }))
                .isEmpty();
    }

    @ParameterizedTest
    @CsvSource({
        "8101 78, frames of clients are masked",
        "8380 00000000, there is no such frame",
        "8080 00000000, continues nothing",
        "81ff ffffffffffffffff 00000000, of a negative length",
        "81fe 1388 00000000, longer than a request",
        "8881 00000000 00, closes without a whole code",
        "0180 00000000 8880 00000000, closes within a message",
        "89fe 00c8 00000000, pings are short"
    })
    void aConnectionThatBreaksTheProtocolIsClosedAndNotLogged(String frame, String why) throws Exception {
        assertThat(errorsLogged(() -> {
                    try (Socket socket = viewer(shown)) {
                        socket.getOutputStream().write(HexFormat.of().parseHex(frame.replace(" ", "")));
                        assertThat(socket.getInputStream().readAllBytes())
                                .as(why)
                                .isNotEmpty();
                    }
                    shown.assertNothingIsLeft();
                }))
                .isEmpty();
    }

    /** A message that has begun is one that the end of its connection cuts. */
    @Test
    void aSocketThatClosesWithinAMessageIsNotLogged() throws Exception {
        assertThat(errorsLogged(() -> {
                    try (Socket socket = viewer(shown)) {
                        socket.getOutputStream().write(HexFormat.of().parseHex("018300000000616263"));
                    }
                    shown.assertNothingIsLeft();
                }))
                .isEmpty();
    }

    @Test
    void aMessageInFragmentsThatIsLongerThanARequestClosesItsConnectionAndIsNotLogged() throws Exception {
        byte[] fragment = new byte[8 + 4000];
        System.arraycopy(HexFormat.of().parseHex("01fe0fa000000000"), 0, fragment, 0, 8);
        byte[] next = fragment.clone();
        next[0] = 0;
        assertThat(errorsLogged(() -> {
                    try (Socket socket = viewer(shown)) {
                        socket.getOutputStream().write(fragment);
                        socket.getOutputStream().write(next);
                        readAll(socket);
                    }
                    shown.assertNothingIsLeft();
                }))
                .isEmpty();
    }

    @ParameterizedTest
    @ValueSource(strings = {"GET ?", "GET ?a=b", "GET *", "GET x:y", "HEAD ?", "GET http://?", "GET %%%"})
    void aTargetThatIsNoPathIsABadRequestAndIsNotLogged(String line) throws Exception {
        assertThat(errorsLogged(() -> {
                    try (Socket socket = connect()) {
                        send(socket, line + " HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
                        assertThat(readAll(socket)).startsWith("HTTP/1.1 400");
                    }
                }))
                .isEmpty();
    }

    @Test
    void aConnectionWhoseRequestIsNotCompletedIsClosedAndAViewerIsNot() throws Exception {
        shown.restart(new Limits(64, Duration.ofMillis(50), Duration.ofMillis(50), LONG));
        try (Page page = shown.connect()) {
            page.frame();
            for (int i = 0; i < 3; i++) { // each takes the time that a viewer would have had
                try (Socket half = connect()) {
                    send(half, "GET / HTTP/1.1\r\nHost: ");
                    assertThat(readAll(half)).isEmpty();
                }
            }
            page.frame();
        }
    }

    @Test
    void furtherConnectionsWaitUntilOneEnds() throws Exception {
        shown.restart(new Limits(2, LONG, LONG, LONG));
        List<Socket> open = new ArrayList<>();
        try (Page page = shown.connect()) {
            for (int i = 0; i < 2; i++) {
                Socket socket = connect();
                open.add(socket);
                send(socket, "GET /view.css HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
            }
            assertThat(readAll(open.get(0))).startsWith("HTTP/1.1 200");
            assertThat(readAll(open.get(1))).as("after the first").startsWith("HTTP/1.1 200");
            page.frame();
        } finally {
            for (Socket socket : open) {
                socket.close();
            }
        }
    }

    private Socket connect() throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), shown.port());
        socket.setSoTimeout(20_000);
        return socket;
    }

    private static void send(Socket socket, String bytes) throws IOException {
        socket.getOutputStream().write(bytes.getBytes(StandardCharsets.US_ASCII));
    }

    /** Reads until the server closes, in whichever way; one that does not sends statistics for ever. */
    private static String readAll(Socket socket) throws IOException {
        try {
            byte[] bytes = socket.getInputStream().readNBytes(MOST_ANSWER);
            assertThat(bytes).as("the server closes").hasSizeLessThan(MOST_ANSWER);
            return new String(bytes, StandardCharsets.UTF_8);
        } catch (SocketException reset) {
            return ""; // it did not read all that was sent
        }
    }

    private interface Action {
        void run() throws Exception;
    }

    private static List<ILoggingEvent> errorsLogged(Action action) throws Exception {
        Logger netty = (Logger) LoggerFactory.getLogger("reactor.netty");
        ListAppender<ILoggingEvent> logged = new ListAppender<>();
        logged.start();
        netty.addAppender(logged);
        try {
            action.run();
        } finally {
            netty.detachAppender(logged);
        }
        return logged.list.stream()
                .filter(event -> event.getLevel().isGreaterOrEqual(Level.ERROR))
                .toList();
    }

    /** Returns a socket whose handshake has begun to be answered. */
    private static Socket viewer(Shown shown) throws IOException {
        String host = "127.0.0.1:" + shown.port();
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), shown.port());
        socket.setSoTimeout(20_000);
        String request = "GET /stream HTTP/1.1\r\nHost: " + host + "\r\nOrigin: http://" + host
                + "\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
                + "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n";
        socket.getOutputStream().write(request.getBytes(StandardCharsets.US_ASCII));
        assertThat(socket.getInputStream().read(new byte[1])).isOne();
        return socket;
    }
}
