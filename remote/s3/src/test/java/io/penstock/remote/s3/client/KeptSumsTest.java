// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.DeviceBuffer;
import io.penstock.Options;
import io.penstock.PermanentStorageException;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Base64;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.core.publisher.Mono;

/** Reads of several ranges, compared with what the store keeps of the whole object, or of its parts. */
@Tag("once")
@ExtendWith(Certificates.class)
class KeptSumsTest {

    private static final int PART = 5 << 20;
    private static final byte[] DATA = new byte[2 * PART + 12_345];

    private S3Server server;
    private volatile String kept = ""; // headers of the answer to HeadObject
    private volatile String attributes = ""; // the document; "" for a refusal
    private volatile long damaged = -1; // a byte that arrives wrong
    private volatile String head = "200 OK"; // the status of the answer to HeadObject

    @BeforeEach
    void start() throws Exception {
        new Random(48).nextBytes(DATA);
        server = new S3Server(true);
        server.put("object", DATA);
        server.proxy.fault = this::answer;
    }

    @AfterEach
    void stop() throws Exception {
        server.stop();
    }

    private boolean answer(FaultProxy.Request request, OutputStream to) throws IOException {
        if (request.kind.equals("HEAD")) {
            to.write(FaultProxy.text("HTTP/1.1 " + head + "\r\nETag: \"e\"\r\nContent-Length: " + DATA.length + kept));
            return true;
        }
        if (request.target.contains("?attributes")) {
            to.write(
                    attributes.isEmpty()
                            ? FaultProxy.error("403 Forbidden", "AccessDenied")
                            : FaultProxy.text("HTTP/1.1 200 OK\r\nContent-Length: " + attributes.length()));
            to.write(attributes.getBytes(StandardCharsets.UTF_8));
            return true;
        }
        Matcher range = Pattern.compile("bytes=(\\d+)-(\\d+)").matcher(request.headers.getOrDefault("range", ""));
        if (!range.matches()) {
            return false;
        }
        int from = Integer.parseInt(range.group(1));
        byte[] bytes = Arrays.copyOfRange(DATA, from, Integer.parseInt(range.group(2)) + 1);
        if (damaged >= from && damaged < from + bytes.length) {
            bytes[(int) damaged - from] ^= 1;
        }
        to.write(FaultProxy.text("HTTP/1.1 206 Partial Content\r\nETag: \"e\"\r\nContent-Length: " + bytes.length
                + "\r\nContent-Range: bytes " + from + "-" + range.group(2) + "/" + DATA.length));
        to.write(bytes);
        return true;
    }

    private static <T> T get(Mono<T> mono) {
        return mono.block(Duration.ofSeconds(60));
    }

    private void readAll() {
        readAll(server.options());
    }

    private static void readAll(Options options) {
        try (Backend backend = Backends.open("host", options);
                StorageFile object = get(backend.openFile(S3Server.uri("object")));
                DeviceBuffer buffer = get(backend.allocate(object.size()))) {
            get(backend.submit(Transfer.read(object.all(), buffer.all())));
        }
    }

    private static String sum(Crc crc, int from, int to) {
        return crc.text(crc.of(ByteBuffer.wrap(DATA, from, to - from)));
    }

    private static String header(Crc crc, String value) {
        return "\r\n" + crc.header() + ": " + value;
    }

    /** The values of the catalogue of parametrised CRC algorithms, of "123456789". */
    @Test
    void eachSumIsOfTheBytes() {
        ByteBuffer digits = ByteBuffer.wrap("123456789".getBytes(StandardCharsets.US_ASCII));
        assertThat(Crc.CRC32.of(digits)).isEqualTo(0xcbf43926L);
        assertThat(Crc.CRC32C.of(digits)).isEqualTo(0xe3069283L);
        assertThat(Crc.CRC64NVME.of(digits)).isEqualTo(0xae8b14860a799888L);
        assertThat(Crc.CRC64NVME.text(1)).isEqualTo("AAAAAAAAAAE=");
        assertThat(Crc.CRC32.text(1)).isEqualTo("AAAAAQ==");
    }

    @ParameterizedTest
    @EnumSource(Crc.class)
    void sumsOfNeighboursCombine(Crc crc) {
        ByteBuffer all = ByteBuffer.wrap(DATA, 3, 100_000);
        for (int split : new int[] {0, 1, 7, 8, 4096, 65_537, 99_999, 100_000}) {
            long first = crc.of(all.duplicate().limit(3 + split));
            long second = crc.of(all.duplicate().position(3 + split));
            assertThat(crc.combined(first, second, 100_000 - split)).isEqualTo(crc.of(all));
        }
    }

    @ParameterizedTest
    @EnumSource(Crc.class)
    void pieceByPieceInAnyOrderAndTwiceTheSumIsOfTheWhole(Crc crc) {
        Random random = new Random(crc.name().length());
        List<int[]> ranges = new ArrayList<>();
        for (int at = 0; at < 1 << 20; ) {
            int end = Math.min(1 << 20, at + 1 + random.nextInt(20_000));
            ranges.add(new int[] {Math.max(0, at - random.nextInt(9_000)), end}); // which overlaps the one before
            at = end;
        }
        Collections.shuffle(ranges, random);
        for (String sum : new String[] {sum(crc, 0, 1 << 20), sum(crc, 1, 1 << 20)}) {
            KeptSums sums = new KeptSums(crc, new TreeMap<>(Map.of(0L, new KeptSums.Part(0, 1 << 20, sum))));
            StringBuilder damage = new StringBuilder();
            for (int[] range : ranges) {
                damage.append(sums.read(range[0], ByteBuffer.wrap(DATA, range[0], range[1] - range[0])));
            }
            if (sum.equals(sum(crc, 0, 1 << 20))) {
                assertThat(damage).isEmpty();
            } else {
                assertThat(damage.toString()).startsWith("bytes 0 to 1048575").containsOnlyOnce("another " + crc);
            }
        }
    }

    @ParameterizedTest
    @EnumSource(Crc.class)
    void theRangesOfAWholeReadAreComparedWithTheObjectsSum(Crc crc) {
        kept = header(crc, sum(crc, 0, DATA.length)) + "\r\nx-amz-checksum-type: FULL_OBJECT";
        readAll();
        assertThat(server.proxy.requests("HEAD"))
                .singleElement()
                .satisfies(head -> assertThat(head.headers)
                        .containsEntry("x-amz-checksum-mode", "ENABLED")
                        .containsEntry("if-match", "\"e\""));
        damaged = PART + 77;
        assertThatThrownBy(this::readAll)
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContainingAll("bytes 0 to " + (DATA.length - 1), "another " + crc, "read all of them again");
        readAll(server.options().with(S3Options.CHECKSUM, S3Options.Checksum.NONE));
    }

    /** Of three parts, of which the last ones are not as large as the first. */
    private void parts(Crc crc) {
        int[] ends = {PART, PART + 1, DATA.length};
        StringBuilder document = new StringBuilder("<GetObjectAttributesResponse><ObjectParts>");
        ByteBuffer sums = ByteBuffer.allocate(ends.length * Long.BYTES);
        for (int i = 0; i < ends.length; i++) {
            int from = i == 0 ? 0 : ends[i - 1];
            String sum = sum(crc, from, ends[i]);
            sums.put(Base64.getDecoder().decode(sum));
            document.append("<Part><PartNumber>" + (i + 1) + "</PartNumber><Size>" + (ends[i] - from) + "</Size><"
                    + crc.element() + ">" + sum + "</" + crc.element() + "></Part>");
        }
        attributes = document + "<IsTruncated>false</IsTruncated></ObjectParts></GetObjectAttributesResponse>";
        kept = header(crc, crc.text(crc.of(sums.flip())) + "-3");
    }

    @ParameterizedTest
    @EnumSource(Crc.class)
    void theRangesOfAPartAreComparedWithThePartsSum(Crc crc) {
        parts(crc);
        readAll();
        assertThat(server.proxy.requests("GET").get(0).target).isEqualTo("/bucket/object?attributes");
        damaged = PART + 77;
        assertThatThrownBy(this::readAll)
                .isInstanceOf(PermanentStorageException.class)
                .hasMessageContaining("bytes " + (PART + 1) + " to " + (DATA.length - 1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"refused", "of another version", "no numbers", "no parts", "another size"})
    void partsThatCannotBeHadAreNotCompared(String why) {
        parts(Crc.CRC32C);
        switch (why) {
            case "refused" -> attributes = "";
            case "no numbers" -> attributes = attributes.replace("<Size>", "<Size>?");
            case "no parts" ->
                attributes = "<IsTruncated>true</IsTruncated><NextPartNumberMarker>1</NextPartNumberMarker>";
            case "another size" -> attributes = attributes.replaceFirst("<Size>", "<Size>1");
            default -> kept = header(Crc.CRC32C, "AAAAAA==-3");
        }
        damaged = 77;
        readAll();
        assertThat(server.proxy.requests).anyMatch(request -> request.target.contains("?attributes"));
    }

    /** A store that has not appended their number, and says so otherwise. */
    @Test
    void aSumOfPartsIsNotTakenForTheSumOfTheObject() {
        parts(Crc.CRC32C);
        kept = kept.replace("-3", "") + "\r\nx-amz-checksum-type: COMPOSITE";
        readAll();
        damaged = 77;
        assertThatThrownBy(this::readAll).hasMessageContaining("bytes 0 to " + (PART - 1));
    }

    @ParameterizedTest
    @ValueSource(strings = {"403 Forbidden", "501 Not Implemented", "503 Slow Down"})
    void aStoreThatAnswersNoHeadObjectIsReadWithoutIt(String status) {
        head = status;
        readAll();
        assertThat(server.proxy.requests("HEAD")).isNotEmpty();
    }
}
