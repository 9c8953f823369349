// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.ByteBuffer;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Redirections that expire, and hosts of one file that name its version differently. */
class RedirectionsTest extends ServedFile {

    private static final int BYTES = 9_000_000; // three ranges
    private static final byte[] DATA = new byte[BYTES];

    static {
        new Random(12).nextBytes(DATA);
    }

    private final AtomicInteger asked = new AtomicInteger(); // for the first URL
    private volatile int valid; // the signature that is accepted

    RedirectionsTest() {
        super(DATA);
    }

    /** Redirects /file.bin to a signed target; a target with another signature than the last is refused. */
    private void sign(String refusal) {
        server.answer = (request, to) -> {
            if (request.target().equals("/file.bin")) {
                valid = asked.incrementAndGet();
                to.write(RangeServer.text("302 Found", "Location: /signed?n=" + valid, "Content-Length: 0"));
                return true;
            }
            if (!request.target().equals("/signed?n=" + valid)) {
                to.write(RangeServer.text(refusal, "Content-Length: 0"));
                return true;
            }
            return false;
        };
    }

    private byte[] readAll(StorageFile file) {
        try (DeviceBuffer buffer = get(backend.allocate(BYTES))) {
            get(backend.submit(Transfer.read(file.all(), buffer.all())));
            ByteBuffer arrived = ByteBuffer.allocateDirect(BYTES);
            get(buffer.download(0, arrived.duplicate()));
            byte[] array = new byte[BYTES];
            arrived.get(array);
            return array;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"401 Unauthorized", "403 Forbidden", "410 Gone"})
    void aTargetThatHasExpiredIsRequestedAgainByTheFirstUrlOnce(String refusal) {
        sign(refusal);
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(readAll(file)).isEqualTo(DATA);
            assertThat(asked).hasValue(1);
            valid = -1; // as after some time
            assertThat(readAll(file)).isEqualTo(DATA);
            assertThat(asked).as("once, for three ranges at a time").hasValue(2);
            valid = -1;
            assertThat(readAll(file)).isEqualTo(DATA);
            assertThat(asked).hasValue(3);
        }
    }

    @Test
    void aTargetThatRefusesAtOnceIsAFailureThatNamesTheRedirection() {
        sign("403 Forbidden");
        try (StorageFile file = get(backend.openFile(server.uri()));
                DeviceBuffer buffer = get(backend.allocate(1000))) {
            RangeServer.Answer signed = server.answer;
            server.answer = (request, to) -> {
                if (request.headers().get("range").equals("bytes=0-1")) {
                    return signed.answer(request, to);
                }
                to.write(RangeServer.text("403 Forbidden", "Content-Length: 0"));
                return true;
            };
            assertThatThrownBy(() -> get(backend.submit(Transfer.read(file.region(0, 1000), buffer.all()))))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContainingAll("FORBIDDEN (403)", "/signed, where a redirection led");
        }
        assertThat(asked).hasValue(2);
    }

    @Test
    void aFirstUrlThatLeadsToAnotherVersionIsAChange() {
        sign("403 Forbidden");
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            valid = -1;
            server.etag = "\"two\"";
            assertThatThrownBy(() -> readAll(file))
                    .isInstanceOf(PermanentStorageException.class)
                    .hasMessageContaining("has changed on its host since it was opened: the entity tag differs");
        }
    }

    /** Sends each range with the next entity tag, and the same date. */
    private void nodes() {
        AtomicInteger node = new AtomicInteger();
        server.answer = (request, to) -> {
            long last = Math.min(request.to(), BYTES - 1);
            to.write(RangeServer.text(
                    "206 Partial Content",
                    "ETag: \"" + node.getAndIncrement() + "\"",
                    "Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT",
                    "Content-Length: " + (last - request.from() + 1),
                    "Content-Range: bytes " + request.from() + "-" + last + "/" + BYTES));
            to.write(DATA, (int) request.from(), (int) (last - request.from() + 1));
            return true;
        };
    }

    @Test
    void whichValidatorsDifferIsTold() {
        nodes();
        assertThat(failure())
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("the entity tag differs, the modification date and the length agree;"
                        + " penstock.http.validator chooses what must agree");
    }

    /** Such a tag may be of other bytes (RFC 9110, 8.8.1): the date decides, and without one ranges are not joined. */
    @Test
    void weakEntityTagsShowNothing() {
        String[] date = {"Last-Modified: Sun, 06 Nov 1994 08:49:37 GMT"};
        server.etag = "W/\"one\"";
        server.answer = (request, to) -> {
            long last = Math.min(request.to(), BYTES - 1);
            to.write(RangeServer.text(
                    "206 Partial Content",
                    "ETag: " + server.etag,
                    date[0],
                    "Content-Length: " + (last - request.from() + 1),
                    "Content-Range: bytes " + request.from() + "-" + last + "/" + BYTES));
            to.write(DATA, (int) request.from(), (int) (last - request.from() + 1));
            return true;
        };
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(readAll(file)).isEqualTo(DATA);
            date[0] = "Last-Modified: Sun, 06 Nov 1994 08:49:38 GMT";
            assertThatThrownBy(() -> readAll(file)).hasMessageContaining("the modification date differs");
        }
        date[0] = "X: y";
        assertThatThrownBy(() -> get(backend.openFile(server.uri())))
                .hasMessageContainingAll("a weak entity tag and no date", "penstock.http.validator=length");
        backend.close();
        backend = backend(Options.none().with("penstock.http.validator", "length"));
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(readAll(file)).isEqualTo(DATA);
        }
    }

    /** A refusal of the condition does not have them. */
    @Test
    void whichValidatorsDifferIsAskedFor() {
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            server.etag = "\"two\"";
            assertThatThrownBy(() -> readAll(file))
                    .hasMessageContainingAll("(412)", "the entity tag differs, the length agrees");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"date", "length"})
    void hostsThatNameOneVersionDifferentlyCanBeRead(String validator) {
        nodes();
        backend.close();
        backend = backend(Options.none().with("penstock.http.validator", validator));
        try (StorageFile file = get(backend.openFile(server.uri()))) {
            assertThat(readAll(file)).isEqualTo(DATA);
        }
        assertThat(server.requests)
                .allSatisfy(request -> assertThat(request.headers()).doesNotContainKey("if-match"));
    }
}
