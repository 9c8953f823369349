// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats;

import io.penstock.formats.load.Assembly;
import io.penstock.formats.read.ArrowFiles;
import io.penstock.formats.read.GgufReader;
import io.penstock.formats.read.NpzReader;
import io.penstock.formats.read.SafetensorsReader;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.zip.CRC32;
import java.util.zip.ZipEntry;
import java.util.zip.ZipException;
import java.util.zip.ZipFile;
import org.apache.arrow.flatbuf.Block;
import org.apache.arrow.flatbuf.Footer;

/**
 * The second oracle of the fuzzers, beside "no other exception": of a file that was read, what it says twice agrees. By
 * the JDK and by hand, without the readers.
 */
final class TwiceSaid {

    private TwiceSaid() {}

    /** Throws an {@link AssertionError} if a file contradicts itself. */
    static void check(ArrayFile read, Path file) throws IOException {
        switch (read.format()) {
            case "NIfTI-1" -> require(read, extents(read).get(0).offset() >= 352, "voxels from 352 on");
            case "NIfTI-2" -> require(read, extents(read).get(0).offset() >= 544, "voxels from 544 on");
            case GgufReader.FORMAT -> {
                String count = read.attributes().get("split.tensors.count");
                require(read, count == null || count.equals(read.arrays().size() + ""), "split.tensors.count");
                overlaps(read);
            }
            case SafetensorsReader.FORMAT -> {
                long all = extents(read).stream().mapToLong(Extent::length).sum();
                boolean one =
                        extents(read).stream().allMatch(extent -> extent.file().equals(file));
                long header = ByteBuffer.wrap(Files.readAllBytes(file))
                        .order(ByteOrder.LITTLE_ENDIAN)
                        .getLong();
                require(read, !one || read.arrays().isEmpty() || 8 + header + all == Files.size(file), "its length");
            }
            case NpzReader.FORMAT -> zip(read, file);
            case ArrowFiles.FORMAT -> {
                arrow(read, file);
                overlaps(read);
            }
            default -> {}
        }
    }

    private static void require(ArrayFile read, boolean agrees, String what) {
        if (!agrees) {
            throw new AssertionError(read + " was read, but contradicts " + what);
        }
    }

    private static List<Extent> extents(ArrayFile read) {
        return read.arrays().stream()
                .flatMap(array -> FuzzTarget.extents(array).stream())
                .toList();
    }

    private static void overlaps(ArrayFile read) {
        List<Extent> sorted = new ArrayList<>(extents(read));
        sorted.removeIf(extent -> extent.length() == 0);
        sorted.sort(Comparator.comparing((Extent extent) -> extent.file().toString())
                .thenComparingLong(Extent::offset));
        for (int i = 1; i < sorted.size(); i++) {
            Extent before = sorted.get(i - 1);
            boolean apart = !before.file().equals(sorted.get(i).file())
                    || before.end() <= sorted.get(i).offset();
            require(read, apart, "places of its own for each array");
        }
    }

    /** Sums, lengths and names as the JDK reads them; an array whose sum is wrong must not be decoded or compared. */
    private static void zip(ArrayFile read, Path file) throws IOException {
        try (ZipFile zip = new ZipFile(file.toFile())) {
            for (Array array : read.arrays()) {
                ZipEntry named = zip.getEntry(array.name() + ".npy");
                ZipEntry entry = named == null ? zip.getEntry(array.name()) : named;
                if (entry == null || array.bytes() > 1 << 16) {
                    continue; // in another character set
                }
                CRC32 sum = new CRC32();
                try (InputStream in = zip.getInputStream(entry)) {
                    sum.update(in.readNBytes(1 << 17));
                }
                if (sum.getValue() != entry.getCrc() && isCompared(array)) {
                    throw new AssertionError(array.name() + " passed the host, but not by its CRC-32");
                }
            }
        } catch (ZipException | java.io.EOFException e) {
            return; // the JDK refuses more, such as the names of others
        }
    }

    private static boolean isCompared(Array array) throws IOException {
        try {
            if (array.data() instanceof Extent extent) {
                NpzReader.checkSum(extent);
                return true;
            }
            for (Assembly.Slab slab : Assembly.slabs(ChunkWindow.all(array), 1, 1 << 17)) {
                slab.read();
            }
            return array.bytes() > 0;
        } catch (MalformedFileException | IllegalArgumentException e) {
            return false;
        }
    }

    /** The length that a message has before itself leads to where the footer lets its body start. */
    private static void arrow(ArrayFile read, Path file) throws IOException {
        ByteBuffer all = ByteBuffer.wrap(Files.readAllBytes(file)).order(ByteOrder.LITTLE_ENDIAN);
        int end = all.limit() - 10;
        ByteBuffer footer = all.slice(end - all.getInt(end), all.getInt(end)).order(ByteOrder.LITTLE_ENDIAN);
        Footer parsed = Footer.getRootAsFooter(footer);
        for (int i = 0; i < parsed.recordBatchesLength(); i++) {
            Block block = Objects.requireNonNull(parsed.recordBatches(i));
            int at = Math.toIntExact(block.offset());
            int own = all.getInt(at) == -1 ? 8 + all.getInt(at + 4) : 4 + all.getInt(at);
            require(read, (own + 7) / 8 * 8 == (block.metaDataLength() + 7) / 8 * 8, "the length of message " + i);
        }
    }

    /** Throws an {@link AssertionError} if the header of what was decoded has another length. */
    static void check(String codec, byte[] stored, int length) {
        ByteBuffer bytes = ByteBuffer.wrap(stored).order(ByteOrder.LITTLE_ENDIAN);
        boolean agrees = switch (codec) {
            case "lz4" -> bytes.getInt(0) == length;
            case "blosc" -> bytes.getInt(4) == length && bytes.getInt(12) == stored.length;
            case "lz4-frame" -> (stored[4] & 8) == 0 || bytes.getLong(6) == length;
            default -> true;
        };
        if (!agrees) {
            throw new AssertionError(codec + " of " + length + " bytes was decoded, but its header has another length");
        }
    }
}
