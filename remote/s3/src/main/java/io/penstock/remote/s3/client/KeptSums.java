// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.Options;
import io.penstock.remote.http.client.ResponseHead;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.NavigableMap;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Compares what is read of an object with the checksums that the store keeps, of all of it or of each part, when the
 * ranges that were read are all of that. Each byte is summed once, when it is first read.
 *
 * <p>Thread-safe; sums are computed by the threads that have read.
 */
final class KeptSums {

    private static final Logger LOG = LoggerFactory.getLogger(KeptSums.class);
    private static final int MOST_DOCUMENT_BYTES = 4 << 20; // of 1000 parts
    private static final int MOST_PARTS = 10_000; // of an object
    private static final Pattern PART = Pattern.compile("(?s)<Part>(.*?)</Part>");

    private static final int MOST_PIECES = 4096; // apart from each other; who reads so has no whole in mind

    /**
     * What the store has the checksum of.
     *
     * @param sum as {@link Crc#text} has it
     */
    record Part(long from, long to, String sum) {}

    private static final class Piece {
        private final long from;
        private final long to;
        private @Nullable Long sum; // null while it is computed

        Piece(long from, long to) {
            this.from = from;
            this.to = to;
        }
    }

    private final Crc crc;
    private final NavigableMap<Long, Part> parts;
    private final NavigableMap<Long, Piece> pieces = new TreeMap<>(); // guarded by this, as below
    private boolean scattered;

    /** @param parts by where they begin; they follow each other */
    KeptSums(Crc crc, NavigableMap<Long, Part> parts) {
        this.crc = crc;
        this.parts = parts;
    }

    /**
     * Requests what the store keeps of an object; blocks.
     *
     * @param conditions by which the store refuses to answer for another version
     * @return null if there is nothing to compare with, which is logged
     */
    static @Nullable KeptSums of(
            S3Object object, Address address, long size, Map<String, String> conditions, Options options) {
        ResponseHead head;
        try {
            head = object.request("HeadObject", address, conditions).head(options);
        } catch (IOException e) { // the object itself can be read
            return none(object, "checksum", "HeadObject failed: " + e.getMessage());
        }
        if (head.status() != 200) {
            return none(object, "checksum", "HeadObject had the answer " + head.status());
        }
        String length = head.value("content-length");
        if (length != null && !length.equals(Long.toString(size))) {
            return none(object, "checksum", "HeadObject has " + length + " bytes, the object " + size);
        }
        for (Crc crc : Crc.values()) {
            String kept = head.value(crc.header());
            if (kept != null) {
                Part whole = new Part(0, size, kept.replaceFirst("-.*", ""));
                boolean ofParts = !kept.equals(whole.sum) || "COMPOSITE".equals(head.value("x-amz-checksum-type"));
                return ofParts
                        ? ofParts(object, address, crc, whole, options)
                        : new KeptSums(crc, new TreeMap<>(Map.of(0L, whole)));
            }
        }
        LOG.debug("{} has no checksum of a kind that ranges are compared with", object);
        return null;
    }

    private static @Nullable KeptSums none(S3Object object, String checksum, String why) {
        LOG.info("what is read of {} is not compared with its {}: {}", object, checksum, why);
        return null;
    }

    /** As {@link #of}, by the sums of the parts, which together have the sum that the store keeps of the object. */
    private static @Nullable KeptSums ofParts(S3Object object, Address address, Crc crc, Part whole, Options options) {
        NavigableMap<Long, Part> parts = new TreeMap<>();
        ByteArrayOutputStream sums = new ByteArrayOutputStream();
        long at = 0;
        String why = "its parts have other sums, or lengths";
        try {
            for (String marker = "0"; !marker.isEmpty(); ) {
                String page = page(object, address, marker, options);
                long before = at;
                for (Matcher part = PART.matcher(page); part.find(); ) {
                    String sum = text(part.group(1), crc.element());
                    sums.write(Base64.getDecoder().decode(sum));
                    long to = at + Long.parseLong(text(part.group(1), "Size"));
                    parts.put(at, new Part(at, to, sum));
                    at = to;
                }
                if (at == before) {
                    throw new IOException("a page of its parts has no bytes");
                }
                String next = text(page, "NextPartNumberMarker");
                marker = text(page, "IsTruncated").equals("true") && parts.size() < MOST_PARTS ? next : "";
            }
        } catch (IOException | IllegalArgumentException e) { // not a number, or not of base64
            why = String.valueOf(e.getMessage());
        }
        if (at == whole.to
                && crc.text(crc.of(ByteBuffer.wrap(sums.toByteArray()))).equals(whole.sum)) {
            return new KeptSums(crc, parts);
        }
        return none(object, crc + " of its parts", why);
    }

    private static String page(S3Object object, Address address, String marker, Options options) throws IOException {
        Map<String, String> headers = new LinkedHashMap<>();
        headers.put("x-amz-object-attributes", "ObjectParts");
        headers.put("x-amz-max-parts", "1000");
        headers.put("x-amz-part-number-marker", marker);
        return object.request("GetObjectAttributes", address.attributes(), headers)
                .document(options, MOST_DOCUMENT_BYTES);
    }

    /** Returns the text of the first element of that name; "" if there is none. */
    private static String text(String document, String element) {
        Matcher found = Pattern.compile("<" + element + ">([^<]*)</").matcher(document);
        return found.find() ? found.group(1) : "";
    }

    /** Takes what was read at an offset; returns what shows that it, and what was read before, is damaged, or "". */
    String read(long offset, ByteBuffer bytes) {
        String damage = "";
        long end = offset + bytes.remaining();
        for (Piece next = claimed(offset, end); next != null; next = claimed(next.to, end)) {
            int from = bytes.position() + (int) (next.from - offset);
            long sum = crc.of(
                    bytes.duplicate().limit(from + (int) (next.to - next.from)).position(from));
            damage += summed(next, sum);
        }
        return damage;
    }

    /** Claims the first bytes of one part that nobody has claimed; null if there are none. */
    private synchronized @Nullable Piece claimed(long from, long to) {
        long start = from;
        Map.Entry<Long, Piece> before = pieces.floorEntry(start);
        while (before != null && before.getValue().to > start) {
            start = before.getValue().to;
            before = pieces.floorEntry(start);
        }
        Map.Entry<Long, Part> part = parts.floorEntry(start);
        if (start >= to || part == null || scattered) {
            return null;
        }
        Long behind = pieces.higherKey(start);
        long end = Math.min(to, part.getValue().to);
        Piece piece = new Piece(start, behind == null ? end : Math.min(end, behind));
        pieces.put(start, piece);
        if (pieces.size() > parts.size() + MOST_PIECES) {
            scattered = true;
            pieces.clear();
        }
        return piece;
    }

    private synchronized String summed(Piece piece, long sum) {
        piece.sum = sum;
        Part part = parts.floorEntry(piece.from).getValue();
        if (scattered) {
            return "";
        }
        Map.Entry<Long, Piece> before = pieces.lowerEntry(piece.from);
        Piece all = before == null || before.getKey() < part.from ? piece : joined(before.getValue(), piece);
        Piece behind = pieces.get(piece.to);
        all = behind == null || piece.to == part.to ? all : joined(all, behind);
        if (all.from > part.from
                || all.to < part.to
                || all.sum == null
                || crc.text(all.sum).equals(part.sum)) {
            return "";
        }
        pieces.remove(all.from); // to be read again
        return "bytes " + part.from + " to " + (part.to - 1) + ", which were read by several requests, have another "
                + crc + " than the store keeps of them; read all of them again";
    }

    /** Joins neighbours, of which the last one returned is kept; returns the one that is not the first if they cannot. */
    private Piece joined(Piece first, Piece second) {
        if (first.to != second.from || first.sum == null || second.sum == null) {
            return second.sum == null ? first : second;
        }
        Piece both = new Piece(first.from, second.to);
        both.sum = crc.combined(first.sum, second.sum, second.to - second.from);
        pieces.remove(second.from);
        pieces.put(both.from, both);
        return both;
    }
}
