// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.load;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.formats.Array;
import io.penstock.formats.ChunkWindow;
import io.penstock.formats.ElementType;
import io.penstock.formats.Extent;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What a chunk and a box share is copied as it is element by element. */
class OverlapTest {

    private final Random random = new Random(29);

    private List<Long> extents(int rank, int most) {
        return IntStream.range(0, rank).mapToObj(d -> 1L + random.nextInt(most)).toList();
    }

    /** Returns a box that has elements of its one chunk, in any order of dimensions. */
    private ChunkWindow window(int elementBytes) {
        int rank = random.nextInt(5);
        List<Long> chunkShape = extents(rank, rank < 3 ? 90 : 12);
        List<Integer> order = new ArrayList<>(IntStream.range(0, rank).boxed().toList());
        Collections.shuffle(order, random);
        List<Long> position = new ArrayList<>();
        List<Long> from = new ArrayList<>();
        List<Long> shape = new ArrayList<>();
        List<Long> whole = new ArrayList<>();
        for (long size : chunkShape) {
            long at = random.nextInt(2);
            long first = random.nextInt((int) size); // of the chunk that the box has
            long low = Math.max(0, at * size + (random.nextBoolean() ? first : first - size));
            position.add(at);
            from.add(low);
            shape.add(Math.max(at * size + first + 1 - low, random.nextInt(2 * (int) size)));
            whole.add(low + shape.get(shape.size() - 1));
        }
        Extent extent = new Extent(Path.of("chunk"), 0, 0);
        Array.Data data = new Array.Data.Chunked(
                chunkShape, order, List.of(new Array.ChunkData(position, extent, List.of())), List.of());
        Array.Order fastest = random.nextBoolean() ? Array.Order.ROW_MAJOR : Array.Order.COLUMN_MAJOR;
        ElementType type = ElementType.of("T", elementBytes);
        return new ChunkWindow(new Array("a", type, whole, ByteOrder.LITTLE_ENDIAN, fastest, data), from, shape);
    }

    /** Returns the number of an element, or -1 if it is not in there. */
    private static int number(List<Long> index, List<Long> from, List<Long> shape, List<Integer> slowestFirst) {
        long number = 0;
        for (int d : slowestFirst) {
            long at = index.get(d) - from.get(d);
            if (at < 0 || at >= shape.get(d)) {
                return -1;
            }
            number = number * shape.get(d) + at;
        }
        return (int) number;
    }

    private static Array.Data.Chunked data(ChunkWindow window) {
        return (Array.Data.Chunked) window.array().data();
    }

    private static byte[] elementByElement(ChunkWindow window, byte[] chunk) {
        int size = window.array().type().blockBytes();
        List<Long> chunkShape = data(window).chunkShape();
        List<Long> position = data(window).chunks().get(0).position();
        List<Integer> order = IntStream.range(0, chunkShape.size()).boxed().toList();
        List<Long> chunkFrom =
                order.stream().map(d -> position.get(d) * chunkShape.get(d)).toList();
        byte[] box = new byte[(int) window.bytes()];
        long elements = Array.bytes(ElementType.U8, chunkShape);
        for (long i = 0; i < elements; i++) {
            List<Long> index = new ArrayList<>(chunkFrom);
            long rest = i;
            for (int d : order) {
                index.set(d, chunkFrom.get(d) + rest % chunkShape.get(d));
                rest /= chunkShape.get(d);
            }
            int from = number(index, chunkFrom, chunkShape, data(window).dimensionOrder());
            int to = number(index, window.from(), window.shape(), new WindowChunks(window).slowestFirst(order));
            if (to >= 0) {
                System.arraycopy(chunk, from * size, box, to * size, size);
            }
        }
        return box;
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 3, 4, 8, 16})
    void aChunkIsCopiedAsElementByElement(int elementBytes) {
        for (int i = 0; i < 150; i++) {
            ChunkWindow window = window(elementBytes);
            WindowChunks chunks = new WindowChunks(window);
            byte[] chunk = new byte[(int) chunks.wholeBytes()];
            random.nextBytes(chunk);
            int before = random.nextInt(4); // what comes before a slab of the box
            ByteBuffer slab = ByteBuffer.allocateDirect(before + (int) window.bytes());
            chunks.overlap(data(window).chunks().get(0)).copy(ByteBuffer.wrap(chunk), slab, -before);
            byte[] copied = new byte[(int) window.bytes()];
            slab.get(before, copied);
            assertThat(copied).as("%s", window).isEqualTo(elementByElement(window, chunk));
        }
    }
}
