// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.plan;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.FileRegion;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.plan.PlannerModel.StagedRequest;
import io.penstock.engine.spi.Limits;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Random transfers under random limits leave what a plain copy leaves, and not a byte else. */
@Tag("once")
class PlannerPropertyTest {

    private static final int ROUNDS = 3_000;

    private Random random = new Random();

    @Test
    void everyPlanDoesWhatAPlainCopyDoes() {
        for (long seed = 1; seed <= ROUNDS; seed++) {
            random = new Random(seed);
            try {
                round();
            } catch (RuntimeException | AssertionError e) {
                throw new AssertionError("seed " + seed, e);
            }
        }
    }

    private void round() {
        PlannerModel model = new PlannerModel(4096);
        PlannerModel expected = new PlannerModel(4096);
        List<StorageFile> files = List.of(new NamedFile("a", 1), new NamedFile("b", 1));
        for (StorageFile file : files) {
            byte[] content = bytes(random.nextInt(6000));
            model.add(file, limits(), content.clone());
            expected.add(file, model.limits(file), content);
        }
        List<NamedBuffer> buffers = new ArrayList<>();
        for (String name : List.of("x", "y")) {
            NamedBuffer buffer = new NamedBuffer(name, random.nextBoolean() ? 4096 : random.nextInt(10_000), 9000);
            buffers.add(buffer);
            byte[] content = bytes(9000);
            model.buffers.put(buffer, content.clone());
            expected.buffers.put(buffer, content);
        }
        Transfer transfer = random.nextInt(3) == 0 ? gather(files, buffers) : pairs(files, buffers);

        expected.copyPlainly(transfer);
        List<StagedRequest> segments = segments(transfer, model);
        checkAccounts(transfer, segments);
        checkCovers(model, transfer, segments);
        Collections.shuffle(segments, random); // segments are unordered
        segments.forEach(segment -> model.run(transfer, segment));

        files.forEach(file -> assertThat(model.files.get(file)).as("%s", file).isEqualTo(expected.files.get(file)));
        buffers.forEach(buffer ->
                assertThat(model.buffers.get(buffer)).as("%s", buffer).isEqualTo(expected.buffers.get(buffer)));
    }

    private byte[] bytes(int length) {
        byte[] bytes = new byte[length];
        random.nextBytes(bytes);
        return bytes;
    }

    private Limits limits() {
        long file = 1L << random.nextInt(9);
        long memory = 1L << random.nextInt(9);
        long segment = file * (1 + random.nextInt(random.nextBoolean() ? 4 : 40));
        return new Limits(file, memory, segment + file * random.nextInt(10), segment, random.nextBoolean());
    }

    private Transfer gather(List<StorageFile> files, List<NamedBuffer> buffers) {
        int length = 1 + random.nextInt(random.nextBoolean() ? 64 : 600);
        if (random.nextBoolean()) {
            length = 1 << random.nextInt(9);
        }
        long[] offsets = new long[1 + random.nextInt(8000 / length)];
        for (int i = 0; i < offsets.length; i++) {
            boolean goesOn = i > 0 && random.nextInt(3) > 0;
            offsets[i] = goesOn ? offsets[i - 1] + length : (long) random.nextInt(6000 / length + 1) * length;
        }
        long bytes = (long) offsets.length * length;
        long start = random.nextBoolean() ? 0 : random.nextInt((int) (9000 - bytes) + 1);
        return Transfer.gather(any(files), offsets, length, any(buffers).region(start, bytes));
    }

    // Pairs do not overlap where they are written: both sides move forward, with gaps now and then.
    private Transfer pairs(List<StorageFile> files, List<NamedBuffer> buffers) {
        boolean read = random.nextBoolean();
        long fileOffset = random.nextInt(500);
        long targetOffset = random.nextInt(500);
        int grain = 1 << random.nextInt(10);
        List<Transfer> pairs = new ArrayList<>();
        int count = 1 + random.nextInt(8);
        StorageFile file = any(files);
        NamedBuffer buffer = any(buffers);
        for (int i = 0; i < count; i++) {
            long length = random.nextInt(6) == 0 ? 0 : random.nextInt(1000);
            if (random.nextInt(3) > 0) {
                length = length / grain * grain;
                fileOffset = random.nextBoolean() ? fileOffset : (fileOffset + grain - 1) / grain * grain;
                targetOffset = random.nextBoolean() ? targetOffset : (targetOffset + grain - 1) / grain * grain;
            }
            FileRegion region = file.region(fileOffset, length);
            pairs.add(
                    read
                            ? Transfer.read(region, buffer.region(targetOffset, length))
                            : Transfer.write(buffer.region(targetOffset, length), region));
            fileOffset += length + (random.nextInt(3) == 0 ? random.nextInt(50) : 0);
            targetOffset += length + (random.nextInt(3) == 0 ? random.nextInt(50) : 0);
            file = random.nextInt(5) == 0 ? any(files) : file;
            buffer = random.nextInt(5) == 0 ? any(buffers) : buffer;
        }
        return pairs.get(0).and(pairs.subList(1, count));
    }

    private <T> T any(List<T> list) {
        return list.get(random.nextInt(list.size()));
    }

    // The segments of a cursor; now and then a packed one is taken apart, as after a failure.
    private List<StagedRequest> segments(Transfer transfer, PlannerModel model) {
        SegmentCursor cursor = new SegmentCursor(transfer, model, model.bounceBytes);
        List<StagedRequest> segments = new ArrayList<>();
        int made = 0;
        while (cursor.next()) {
            made++;
            if (cursor.kind() == SegmentCursor.Kind.PACKED && random.nextInt(3) == 0) {
                SegmentCursor apart = cursor.apart(cursor.pair(), cursor.pairCount());
                while (apart.next()) {
                    assertThat(apart.pairCount()).isEqualTo(1);
                    segments.add(StagedRequest.of(apart));
                }
            } else {
                segments.add(StagedRequest.of(cursor));
            }
        }
        assertThat(cursor.count()).isEqualTo(made);
        return segments;
    }

    // Each byte of each pair is in one segment: what an I/O queue adds up per pair comes to the pair's length.
    private static void checkAccounts(Transfer transfer, List<StagedRequest> segments) {
        long[] left = new long[transfer.pairs()];
        Arrays.setAll(left, i -> transfer.fileRegion(i).length());
        for (StagedRequest segment : segments) {
            long bytes = segment.bytes();
            long skip = segment.file() - transfer.fileOffset(segment.pair());
            for (int i = segment.pair(); i < segment.pair() + segment.pairCount(); i++) {
                long part = Math.min(bytes, transfer.fileRegion(i).length() - skip);
                left[i] -= part;
                bytes -= part;
                skip = 0;
            }
            assertThat(bytes).as("bytes of %s that belong to no pair", segment).isZero();
        }
        assertThat(left).containsOnly(0);
    }

    // No block is in two covers of the same pair, or the second would wait for the first.
    private static void checkCovers(PlannerModel model, Transfer transfer, List<StagedRequest> segments) {
        Set<List<Long>> blocks = new HashSet<>();
        for (StagedRequest segment : segments) {
            if (segment.kind() == SegmentCursor.Kind.BOUNCE && segment.pairCount() == 1) {
                long block =
                        model.limits(transfer.fileRegion(segment.pair()).file()).fileAlignment();
                for (long at = segment.cover(); at < segment.cover() + segment.coverBytes(); at += block) {
                    assertThat(blocks.add(List.of((long) segment.pair(), at)))
                            .as("block %s of %s", at, segment)
                            .isTrue();
                }
            }
        }
    }
}
