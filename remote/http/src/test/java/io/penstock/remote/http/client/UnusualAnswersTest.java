// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.CommonOptions;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import java.io.IOException;
import java.net.URI;
import java.time.ZoneOffset;
import java.time.ZonedDateTime;
import java.time.format.DateTimeFormatter;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers that few servers send: each is followed, or refused for what it is. */
class UnusualAnswersTest extends ServedFile {

    private static final int BYTES = 1000;
    private static final byte[] DATA = new byte[BYTES];

    UnusualAnswersTest() {
        super(DATA);
    }

    /** Answers the first request by a redirection. */
    private void redirectFirst(String location) {
        server.answer = (request, to) -> {
            if (request.number() > 0) {
                return false;
            }
            to.write(RangeServer.text("302 Found", "Location: " + location, "Content-Length: 0"));
            return true;
        };
    }

    @Test
    void aRedirectionToAnotherQueryKeepsThePath() {
        redirectFirst("?signature=1");
        get(backend.openFile(server.uri("/folder/file.bin?page=2"))).close();
        assertThat(server.requests.get(1).target()).isEqualTo("/folder/file.bin?signature=1");
    }

    /** What an answer states twice must agree (RFC 9110, 14.4): a file of no bytes would be copied, without a word. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "206 x|Content-Range: bytes 0-0/0|Content-Length: 1",
                "206 x|Content-Range: bytes 0-0/1000|Content-Length: 2",
                "206 x|Content-Range: bytes 0-0/1000|Content-Range: bytes 0-0/999|Content-Length: 1",
                "416 x|Content-Range: bytes 0-0/0|Content-Length: 0",
                "416 x|Content-Range: bytes */1000|Content-Length: 0",
                "200 x|Content-Range: bytes 0-0/1000|Content-Length: 0",
                "200 x|Transfer-Encoding: chunked|Content-Length: 0",
            })
    void anAnswerThatContradictsItselfIsRefused(String answer) {
        server.answer = (request, to) -> {
            String[] lines = answer.split("\\|");
            to.write(RangeServer.text(lines[0], Arrays.copyOfRange(lines, 1, lines.length)));
            to.write(0);
            return true;
        };
        Options once = Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 1);
        try (Backend backend = Backends.open("host", once)) {
            assertThatThrownBy(() -> get(backend.openFile(server.uri()))).hasMessageContaining("localhost");
        }
    }

    /** RFC 3986, 5.4.2: there is nothing above the root. */
    @ParameterizedTest
    @ValueSource(strings = {"../../../file.bin", "/../file.bin", "/folder/../../file.bin"})
    void aRedirectionAboveTheRootLeadsToTheRoot(String location) {
        redirectFirst(location);
        get(backend.openFile(server.uri("/folder/first.bin"))).close();
        assertThat(server.requests.get(1).target()).isEqualTo("/file.bin");
    }

    /** A store has objects of such names. */
    @Test
    void aRelativeRedirectionKeepsEmptyNames() {
        redirectFirst("./file.bin");
        get(backend.openFile(server.uri("/folder//first.bin"))).close();
        assertThat(server.requests.get(1).target()).isEqualTo("/folder//file.bin");
    }

    @Test
    void aPauseIsDemandedInSecondsOrByADate() throws IOException {
        assertThat(retryAfter("7")).isEqualTo(7);
        assertThat(retryAfter("99999999")).isEqualTo(99_999_999);
        assertThat(retryAfter("Thu, 31 Dec 2099 23:59:59 GMT")).isGreaterThan(10);
        assertThat(retryAfter("Sun, 02 Feb 2020 02:02:02 GMT")).isZero();
        assertThat(retryAfter("soon")).isNegative();
    }

    /** RFC 9110, 5.6.7: the forms of RFC 850 and of asctime must be accepted. */
    @Test
    void aPauseIsDemandedByAnObsoleteDateToo() throws IOException {
        DateTimeFormatter rfc850 = DateTimeFormatter.ofPattern("EEEE, dd-MMM-yy HH:mm:ss 'GMT'", Locale.ENGLISH);
        ZonedDateTime now = ZonedDateTime.now(ZoneOffset.UTC);
        assertThat(retryAfter(rfc850.format(now.minusYears(1)))).isZero();
        assertThat(retryAfter(rfc850.format(now.plusYears(1)))).isGreaterThan(10);
        assertThat(retryAfter("Sun Nov  6 08:49:37 1994")).isZero();
        assertThat(retryAfter("Thu Dec 31 23:59:59 2099")).isGreaterThan(10);
    }

    private static long retryAfter(String value) throws IOException {
        return ResponseHead.parse("HTTP/1.1 503 Busy\r\nRetry-After: " + value).retryAfterSeconds();
    }

    @Test
    void interimAnswersWithoutEndAreAFailure() throws IOException {
        backend.close();
        backend = backend(Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 1));
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            for (int i = 0; i < 10_000; i++) {
                to.write(RangeServer.text("100 Continue"));
            }
            return false;
        };
        assertThat(failure()).isInstanceOf(TransientStorageException.class).hasMessageContaining("interim");
    }

    @Test
    void theWholeFileInPlaceOfAPartIsRefusedForThat() {
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            to.write(RangeServer.text("200 OK", "ETag: " + server.etag, "Content-Length: " + BYTES));
            to.write(DATA);
            return true;
        };
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(100))) {
            assertThatThrownBy(() -> get(backend.submit(Transfer.read(file.region(0, 100), buffer.all()))))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContainingAll("GET -> OK (200)", "does not send ranges");
        }
    }

    /** A server must not name it, and some do. */
    @ParameterizedTest
    @ValueSource(strings = {"Content-Encoding: identity", "Content-Encoding: Identity", "Transfer-Encoding: identity"})
    void identityIsNoCoding(String header) {
        server.answer = (request, to) -> {
            byte[] range = Arrays.copyOfRange(DATA, (int) request.from(), (int) request.to() + 1);
            to.write(RangeServer.text(
                    "206 Partial Content",
                    "ETag: " + server.etag,
                    header,
                    "Content-Length: " + range.length,
                    "Content-Range: bytes " + request.from() + "-" + request.to() + "/" + BYTES));
            to.write(range);
            return true;
        };
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            assertThat(get(backend.submit(Transfer.read(file.all(), buffer.all())))
                            .bytes())
                    .isEqualTo(BYTES);
        }
    }

    /** Its length would be the length of the coded file. */
    @Test
    void aServerThatCodesTheFirstByteIsRefusedAtTheOpening() {
        server.answer = (request, to) -> {
            to.write(RangeServer.text(
                    "206 Partial Content",
                    "ETag: " + server.etag,
                    "Content-Encoding: gzip",
                    "Content-Length: 1",
                    "Content-Range: bytes 0-0/77"));
            to.write(new byte[1]);
            return true;
        };
        assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                .hasMessageContaining("in another coding than identity: gzip");
    }

    @Test
    void aRelativeRedirectionOfAUriWithoutAPathIsFollowed() {
        redirectFirst("file.bin");
        get(backend.openFile(server.uri(""))).close();
        assertThat(server.requests.get(1).target()).isEqualTo("/file.bin");
    }

    @Test
    void aRangeThatProgressesContinuesAlsoWithOneAttempt() {
        backend.close();
        backend = backend(Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 1));
        server.answer = (request, to) -> {
            if (request.number() == 1) {
                server.cut(request, to, 100);
            }
            return false;
        };
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(DATA.length))) {
            Completion read = get(backend.submit(Transfer.read(file.all(), buffer.all())));
            assertThat(read.bytes()).isEqualTo(DATA.length);
        }
    }

    @Test
    void rangeUnitsHaveAnyCase() {
        server.answer = (request, to) -> {
            to.write(RangeServer.text(
                    "206 Partial Content",
                    "ETag: " + server.etag,
                    "Content-Length: " + (request.to() - request.from() + 1),
                    "Content-Range: Bytes " + request.from() + "-" + request.to() + "/" + DATA.length));
            to.write(DATA, (int) request.from(), (int) (request.to() - request.from() + 1));
            return true;
        };
        get(backend.openFile(server.uri())).close();
    }

    @Test
    void aReasonMayHaveAnyOctet() throws IOException {
        assertThat(ResponseHead.parse("HTTP/1.1 206 Teilweise\u0085r Inhalt\r\nA: b")
                        .status())
                .isEqualTo(206);
    }

    /** RFC 9112, 5.2: such lines continue the value of the line before, as after one space. */
    @Test
    void aHeaderMayBeFolded() throws IOException {
        ResponseHead head = ResponseHead.parse(
                "HTTP/1.1 206 x\r\nServer: one\r\n two\r\nContent-Range:\r\n\tbytes 0-0/7\r\nContent-Length: 1");
        assertThat(head.value("server")).isEqualTo("one two");
        assertThat(head.bytesOf(0, 2)).isEqualTo(1);
        assertThat(head.totalBytes()).isEqualTo(7);
    }

    /** RFC 9110, 7.6.1: Connection is a list. */
    @Test
    void aConnectionThatIsToBeClosedIsNotKept() throws IOException {
        assertThat(ResponseHead.parse("HTTP/1.1 206 x\r\nConnection: Upgrade, close")
                        .keepsConnection())
                .isFalse();
        assertThat(ResponseHead.parse("HTTP/1.0 206 x").keepsConnection()).isFalse();
        assertThat(ResponseHead.parse("HTTP/1.0 206 x\r\nConnection: keep-alive")
                        .keepsConnection())
                .isTrue();
    }

    /** RFC 9110, 5.3: lines of one name are one list. */
    @Test
    void headersThatAreListsMayHaveSeveralLines() throws IOException {
        ResponseHead closing = ResponseHead.parse("HTTP/1.1 206 x\r\nConnection: Upgrade\r\nconnection: close");
        assertThat(closing.keepsConnection()).isFalse();
        ResponseHead coded =
                ResponseHead.parse("HTTP/1.1 206 x\r\nContent-Encoding: identity\r\nContent-Encoding: gzip");
        assertThat(coded.coding()).isEqualTo("identity, gzip");
        assertThat(ResponseHead.parse("HTTP/1.1 206 x\r\nETag: \"a\"\r\nETag: \"b\"")
                        .value("etag"))
                .isEqualTo("\"a\"");
    }

    /** RFC 9112, 6.3: where the answer ends is not known then. */
    @Test
    void severalLengthsAreAnErrorUnlessTheyAreTheSame() throws IOException {
        assertThat(ResponseHead.parse("HTTP/1.1 206 x\r\nContent-Length: 1\r\nContent-Length: 1")
                        .value("content-length"))
                .isEqualTo("1");
        assertThatThrownBy(() -> ResponseHead.parse("HTTP/1.1 206 x\r\nContent-Length: 1\r\nContent-Length: 2"))
                .isInstanceOf(IOException.class)
                .hasMessage("the answer has several Content-Length: 1 and 2");
    }

    /** Such as one that refuses many small ranges (RFC 9110, 14.2): its headers are of the answer, not of the file. */
    @Test
    void aRangeThatIsRefusedIsAChangeOnlyIfTheLengthIsAnother() {
        String[] length = {"Content-Range: bytes */" + BYTES};
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            to.write(RangeServer.text("416 Range Not Satisfiable", "Content-Length: 0", length[0]));
            return true;
        };
        assertThat(failure())
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("GET -> RANGE_NOT_SATISFIABLE (416)")
                .message()
                .doesNotContain("has changed");
        length[0] = "Content-Range: bytes */10";
        server.answer = (request, to) -> {
            if (request.from() == 0 && request.to() == 1) {
                return false;
            }
            to.write(RangeServer.text("416 Range Not Satisfiable", "Content-Length: 0", length[0]));
            return true;
        };
        assertThat(failure()).hasMessageContainingAll("(416)", "has changed on its host");
    }

    /** Such a server has no ranges at all, or none of this file: the answer states no length, which it may omit. */
    @ParameterizedTest
    @ValueSource(ints = {0, BYTES})
    void aRefusedRangeWithoutALengthIsFollowedByARequestForAll(int size) {
        server.answer = (request, to) -> {
            if (request.headers().containsKey("range")) {
                to.write(RangeServer.text("416 Range Not Satisfiable", "Content-Length: 0"));
            } else {
                to.write(RangeServer.text("200 OK", "ETag: " + server.etag, "Content-Length: " + size));
                to.write(DATA, 0, size);
            }
            return true;
        };
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(file.size()).isEqualTo(size);
        }
        server.answer = (request, to) -> {
            to.write(RangeServer.text("416 Range Not Satisfiable", "Content-Length: 0"));
            return true;
        };
        assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                .hasMessageContaining("RANGE_NOT_SATISFIABLE (416)");
    }

    /** {@link java.net.URI} has no host then; services of Docker have such names. */
    @Test
    void theNameOfAHostMayHaveAnUnderscore() {
        Origin origin = Origin.of(URI.create("http://user@my_store:9000/file.bin"));
        assertThat(origin.host()).isEqualTo("my_store");
        assertThat(origin.port()).isEqualTo(9000);
        backend.close();
        backend = backend(Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 1));
        assertThatThrownBy(() -> get(backend.openFile(URI.create("http://my_store.invalid/file.bin"))))
                .hasMessageContaining("UnknownHostException: my_store.invalid");
        assertThatThrownBy(() -> get(backend.openFile(URI.create("http://:9000/file.bin"))))
                .hasMessageContaining("must name a host");
    }

    /** Such as of a native library that lacks, by which a service signs; or of memory for a connection. */
    @Test
    void anErrorOfAnOpeningKeepsNoConnections() {
        Resource broken = new Resource(server.uri(), "GET", "broken") {
            @Override
            protected Map<String, String> signed(Map<String, String> headers) {
                throw new NoClassDefFoundError("of a native library");
            }
        };
        assertThatThrownBy(() -> broken.open(Options.none().resolve(CommonOptions.all()), () -> {}))
                .isInstanceOf(NoClassDefFoundError.class);
        get(backend.openFile(server.uri())).close();
        get(backend.openFile(server.uri())).close();
        assertThat(server.connections).hasValue(2); // they are kept while a file is open
    }
}
