// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.codec.Gzip;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** What lies in the place of a file of arrays, by its first bytes: a pointer, a page, an error, another format. */
public final class FileStart {

    /** As many bytes are looked at. */
    static final int BYTES = 512;

    private static final int LEAST_ZEROS = 16; // fewer may be a header that is wrong in another way
    private static final int LEAST_TEXT = 8; // bytes
    private static final int MOST_SHOWN = 80; // characters of a text
    private static final int TAR_AT = 257;
    private static final Pattern POINTER = Pattern.compile("version https?://(?:git-lfs|hawser)[^\\n]*(?s:.*)");
    private static final Pattern POINTED = Pattern.compile("(?m)^size (\\d{1,18})$");
    private static final Pattern PAGE = Pattern.compile("(?i)<(!doctype html|html|head|body|title)\\b(?s:.*)");
    private static final Pattern PICKLE = Pattern.compile("\\x80[\\x02-\\x05](?s:.*)");
    private static final Pattern TEXT = Pattern.compile("(?:\\xef\\xbb\\xbf)?[\\t\\n\\r -~]+");

    private static final String ARROW = "ARROW1";
    private static final String ZIP = "PK\3\4";
    private static final String GZIP = "\u001f\u008b";
    private static final Map<String, String> OWN = Map.of(NpzReader.FORMAT, ZIP, NiftiReader.FORMAT, GZIP);
    private static final Set<String> JSON = Set.of(SafetensorsIndexReader.FORMAT, ZarrNode.FORMAT);
    private static final String DECOMPRESS = ", which must be decompressed first";

    private static final Map<String, String> MAGIC = Map.ofEntries(
            Map.entry(GZIP, Gzip.WHOLE),
            Map.entry("BZh", "it is compressed by bzip2 as a whole" + DECOMPRESS),
            Map.entry("\u00fd7zXZ\0", "it is compressed by xz as a whole" + DECOMPRESS),
            Map.entry("(\u00b5/\u00fd", "it is compressed by Zstandard as a whole" + DECOMPRESS),
            Map.entry("7z\u00bc\u00af", "it is an archive of 7-Zip, which must be unpacked first"),
            Map.entry(ZIP, "it is a zip archive, which must be unpacked first"),
            Map.entry("\u0089HDF\r\n", "it is HDF5, which is not supported: convert it, to npz or Zarr"),
            Map.entry("CDF\1", "it is netCDF, which is not supported: convert it, to npz or Zarr"),
            Map.entry("CDF\2", "it is netCDF, which is not supported: convert it, to npz or Zarr"),
            Map.entry("CDF\5", "it is netCDF, which is not supported: convert it, to npz or Zarr"),
            Map.entry("PAR1", "it is Parquet, which is not supported: convert it, to Arrow"),
            Map.entry("%PDF-", "it is a PDF"));

    private FileStart() {}

    /** Returns whether the bytes are a length and a brace: safetensors has no magic number. */
    static boolean isSafetensors(byte[] start) {
        return start.length > Long.BYTES
                && start[Long.BYTES] == '{'
                && (start[3] & 0xff) < 8
                && (start[4] | start[5] | start[6] | start[7]) == 0;
    }

    /** Returns whether it is a file of Arrow, or a stream: a mark, the length of a message, the place of a table in it. */
    static boolean isArrow(byte[] start) {
        String text = new String(start, 0, Math.min(start.length, ARROW.length()), StandardCharsets.ISO_8859_1);
        ByteBuffer bytes = ByteBuffer.wrap(start).order(ByteOrder.LITTLE_ENDIAN);
        return text.equals(ARROW)
                || text.startsWith("FEA1")
                || start.length >= 3 * Integer.BYTES
                        && bytes.getInt(0) == -1
                        && bytes.getInt(4) > 0
                        && bytes.getInt(8) > 0
                        && bytes.getInt(8) < bytes.getInt(4);
    }

    /**
     * Returns what a file is, and what to do, if it is none of arrays for certain; otherwise null.
     *
     * @param bytes its first bytes
     * @param length the length of the file
     * @param format what it should be
     */
    static @Nullable String other(byte[] bytes, long length, String format) {
        if (isSafetensors(bytes)) { // its length may have the bytes of any magic number
            return null;
        }
        String start = new String(bytes, StandardCharsets.ISO_8859_1);
        String pointer = pointer(start);
        if (pointer != null) {
            return pointer;
        }
        for (Map.Entry<String, String> magic : MAGIC.entrySet()) {
            if (start.startsWith(magic.getKey()) && !magic.getKey().equals(OWN.get(format))) {
                return magic.getValue();
            }
        }
        if (start.startsWith("ustar", TAR_AT)) {
            return "it is a tar archive, which must be unpacked first";
        }
        if (PICKLE.matcher(start).matches()) {
            return "it is a pickle of Python, such as an old checkpoint of PyTorch: convert it, to safetensors";
        }
        if (bytes.length >= LEAST_ZEROS && start.chars().allMatch(c -> c == 0)) {
            return "it has zeros in place of a header, such as after an interrupted download: download it again";
        }
        return text(start, bytes, length, JSON.contains(format));
    }

    /** Returns a complaint about a chunk, with what its file is if that explains it. */
    public static String explained(String complaint, Path chunk) {
        try (InputStream in = Files.newInputStream(chunk)) {
            String pointer = pointer(new String(in.readNBytes(BYTES), StandardCharsets.ISO_8859_1));
            return pointer == null ? complaint : complaint + "; " + pointer;
        } catch (IOException e) {
            return complaint;
        }
    }

    private static @Nullable String pointer(String start) {
        if (!POINTER.matcher(start).matches()) {
            return null;
        }
        Matcher size = POINTED.matcher(start);
        return "it is a Git LFS pointer" + (size.find() ? " to a file of " + size.group(1) + " bytes" : "")
                + ", not the file: run `git lfs pull` in its repository";
    }

    private static @Nullable String text(String start, byte[] bytes, long length, boolean json) {
        String text = (start.startsWith("\u00ef\u00bb\u00bf") ? start.substring(3) : start).stripLeading();
        String shown = new String(bytes, StandardCharsets.UTF_8).strip();
        shown = shown.length() > MOST_SHOWN ? shown.substring(0, MOST_SHOWN) + "..." : shown;
        String lower = text.toLowerCase(Locale.ROOT);
        if (PAGE.matcher(lower).matches()) {
            return "it is a web page, such as of an error or a login, not the file: " + shown;
        }
        if (lower.startsWith("<?xml") || lower.startsWith("<error")) {
            return "it is XML, such as the error of a store, not the file: " + shown;
        }
        if (text.startsWith("{") || text.startsWith("[")) {
            return json ? null : "it is JSON, such as the error of a server, not the file: " + shown;
        }
        return length >= LEAST_TEXT && length <= BYTES && TEXT.matcher(start).matches()
                ? "it is a text, such as the error of a server, not the file: " + shown
                : null;
    }
}
