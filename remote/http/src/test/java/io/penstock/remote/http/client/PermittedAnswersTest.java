// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.CommonOptions;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.TransientStorageException;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Answers that RFC 9110 permits and many servers send: the bytes arrive. */
class PermittedAnswersTest extends ServedFile {

    private static final int BYTES = 300_000;
    private static final byte[] DATA = new byte[BYTES];

    static {
        new Random(11).nextBytes(DATA);
    }

    PermittedAnswersTest() {
        super(DATA);
    }

    private byte[] read(StorageFile file, long offset, int bytes) {
        try (DeviceBuffer buffer = get(backend.allocate(bytes))) {
            get(backend.submit(Transfer.read(file.region(offset, bytes), buffer.all())));
            ByteBuffer arrived = ByteBuffer.allocateDirect(bytes);
            get(buffer.download(0, arrived.duplicate()));
            byte[] array = new byte[bytes];
            arrived.get(array);
            return array;
        }
    }

    private byte[] readAll() {
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(file.size()).isEqualTo(BYTES);
            return read(file, 0, BYTES);
        }
    }

    /** Sends at most so many bytes of what was requested. */
    private void limit(int most) {
        server.answer = (request, to) -> {
            server.usual(
                    new RangeServer.Request(
                            request.number(),
                            request.target(),
                            request.headers(),
                            request.from(),
                            Math.min(request.to(), request.from() + most - 1)),
                    to);
            return true;
        };
    }

    @Test
    void aRangeThatIsShorterThanRequestedIsContinued() {
        limit(10_000);
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.connections).hasValue(1);
    }

    @Test
    void aServerThatSendsAByteForEachRequestIsGivenUp() {
        backend.close();
        backend = backend(Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 2));
        limit(1);
        assertThat(failure())
                .isInstanceOf(TransientStorageException.class)
                .hasMessageContainingAll("sent 1 of " + (BYTES - 1) + " bytes", "after 2 attempts");
    }

    @Test
    void theWholeFileInPlaceOfARangeOfAllOfItIsTaken() {
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            to.write(RangeServer.text("200 OK", "ETag: " + server.etag, "Content-Length: " + BYTES));
            to.write(DATA);
            return true;
        };
        assertThat(readAll()).isEqualTo(DATA);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2})
    void aSmallFileInPlaceOfItsFirstBytesIsTaken(int size) {
        server.answer = (request, to) -> {
            to.write(RangeServer.text("200 OK", "ETag: " + server.etag, "Content-Length: " + size));
            to.write(DATA, 0, size);
            return true;
        };
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(file.size()).isEqualTo(size);
            assertThat(read(file, 0, size)).isEqualTo(Arrays.copyOf(DATA, size));
        }
    }

    /** Its end is the end of the connection then (RFC 9112, 6.3). */
    @Test
    void aRangeWithoutItsLengthIsReadByItsContentRange() {
        server.answer = (request, to) -> {
            int last = (int) Math.min(request.to(), BYTES - 1);
            to.write(RangeServer.text("206 Partial Content", "ETag: " + server.etag, range(request.from(), last)));
            to.write(DATA, (int) request.from(), (int) (last + 1 - request.from()));
            to.flush();
            throw new IOException("the end");
        };
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.connections).hasValue(2);
    }

    private static String range(long from, long last) {
        return "Content-Range: bytes " + from + "-" + last + "/" + BYTES;
    }

    private void chunks(OutputStream to, RangeServer.Request request, int each, String end) throws IOException {
        int last = (int) Math.min(request.to(), BYTES - 1);
        String[] headers = {"ETag: " + server.etag, "Transfer-Encoding: chunked", range(request.from(), last)};
        to.write(RangeServer.text("206 Partial Content", headers));
        for (int at = (int) request.from(); at <= last; at += each) {
            int count = Math.min(each, last + 1 - at);
            to.write((Integer.toHexString(count) + ";name=value\r\n").getBytes(StandardCharsets.US_ASCII));
            to.write(DATA, at, count);
            to.write("\r\n".getBytes(StandardCharsets.US_ASCII));
        }
        to.write(end.getBytes(StandardCharsets.US_ASCII));
    }

    @Test
    void aRangeInChunksArrivesAndItsConnectionIsKept() {
        server.answer = (request, to) -> {
            chunks(to, request, 70_001, "0\r\nTrailer: of no use\r\n\r\n");
            return true;
        };
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.connections).hasValue(1);
    }

    /** Its length is in Content-Range and in the chunks, and they must agree. */
    @Test
    void chunksThatEndBeforeTheRangeAreAFailure() {
        backend.close();
        backend = backend(Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 1));
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            to.write(RangeServer.text(
                    "206 Partial Content", "ETag: " + server.etag, "Transfer-Encoding: chunked", range(0, BYTES - 1)));
            to.write("3\r\nabc\r\n0\r\n\r\n".getBytes(StandardCharsets.US_ASCII));
            return true;
        };
        assertThat(failure())
                .isInstanceOf(TransientStorageException.class)
                .hasMessageContaining("chunks ended " + (BYTES - 3) + " bytes before the end of the range");
    }

    /** As browsers and curl do, which encode it. */
    @Test
    void aBlankInALocationIsEncoded() {
        server.answer = (request, to) -> {
            if (request.number() > 0) {
                return false;
            }
            to.write(RangeServer.text("302 Found", "Location: /a file|1.bin?x=a b", "Content-Length: 0"));
            return true;
        };
        get(backend.openFile(server.uri())).close();
        assertThat(server.requests.get(1).target()).isEqualTo("/a%20file%7C1.bin?x=a%20b");
    }

    /** A range must not state the length of the whole file (RFC 9110, 14.4). */
    @Test
    void theLengthOfTheFileIsNeededOnce() {
        server.answer = (request, to) -> {
            if (request.number() == 0) {
                return false;
            }
            to.write(RangeServer.text(
                    "206 Partial Content",
                    "ETag: " + server.etag,
                    "Content-Length: " + BYTES,
                    "Content-Range: bytes 0-" + (BYTES - 1) + "/*"));
            to.write(DATA);
            return true;
        };
        assertThat(readAll()).isEqualTo(DATA);
    }

    /** Sends all of the file to each request, without a word about ranges. */
    private void sendNoRanges() {
        server.answer = (request, to) -> {
            to.write(RangeServer.text("200 OK", "ETag: " + server.etag, "Content-Length: " + BYTES));
            to.write(DATA);
            return true;
        };
    }

    @Test
    void aFileOfAServerWithoutRangesIsReadInOrderFromOneAnswer() {
        sendNoRanges();
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(file.size()).isEqualTo(BYTES);
            assertThat(read(file, 0, 100_000)).isEqualTo(Arrays.copyOf(DATA, 100_000));
            assertThat(read(file, 100_000, 50_000)).isEqualTo(Arrays.copyOfRange(DATA, 100_000, 150_000));
            assertThat(read(file, 200_000, 100_000)).isEqualTo(Arrays.copyOfRange(DATA, 200_000, 300_000));
        }
        assertThat(server.requests).hasSize(2);
        assertThat(server.requests.get(1).headers()).doesNotContainKey("range");
    }

    @Test
    void aServerWithoutRangesIsNotAskedForAllOfTheFileAgainAndAgain() {
        backend.close();
        backend = backend(Options.none().with(CommonOptions.REMOTE_ATTEMPTS, 2));
        sendNoRanges();
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(read(file, 200_000, 1000)).isEqualTo(Arrays.copyOfRange(DATA, 200_000, 201_000));
            assertThat(read(file, 100_000, 1000)).isEqualTo(Arrays.copyOfRange(DATA, 100_000, 101_000));
            assertThat(read(file, 0, 1000)).isEqualTo(Arrays.copyOf(DATA, 1000));
            read(file, 1000, 1000);
            assertThatThrownBy(() -> read(file, 500, 1000))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContainingAll("GET -> OK (200)", "does not send ranges", "in order", "copy it first");
        }
        assertThat(server.requests).hasSize(4);
    }

    @Test
    void anAnswerThatBreaksOffIsReadAgainUpToWhereItWas() {
        server.answer = (request, to) -> {
            to.write(RangeServer.text("200 OK", "ETag: " + server.etag, "Content-Length: " + BYTES));
            if (request.number() == 1) {
                to.write(DATA, 0, 250_000);
                to.flush();
                throw new IOException("cut");
            }
            to.write(DATA);
            return true;
        };
        assertThat(readAll()).isEqualTo(DATA);
        assertThat(server.requests).hasSize(3);
    }

    @Test
    void aChangedFileOfAServerWithoutRangesFails() {
        sendNoRanges();
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            server.etag = "\"two\"";
            assertThatThrownBy(() -> read(file, 0, 1000)).hasMessageContaining("has changed on its host");
        }
    }

    /** Such as s3rver, for which a range that ends at 0 is none. */
    @Test
    void theFirstTwoBytesAreRequestedSinceSomeServersSendEverythingForOne() {
        get(backend.openFile(server.uri())).close();
        assertThat(server.requests.get(0).headers()).containsEntry("range", "bytes=0-1");
    }
}
