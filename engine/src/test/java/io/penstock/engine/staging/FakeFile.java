// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.engine.spi.Limits;
import io.penstock.engine.spi.NativeFile;
import java.util.Arrays;
import java.util.Random;

/** A file in an array. */
final class FakeFile implements NativeFile {

    final long block;
    byte[] bytes;
    int syncs;
    boolean statesNoLength;
    boolean readsAnywhere; // although it has blocks

    FakeFile(int size, long block, long seed) {
        this.block = block;
        bytes = new byte[size];
        new Random(seed).nextBytes(bytes);
    }

    void checkAligned(long edges) {
        if ((edges & (block - 1)) != 0) {
            throw new AssertionError("host I/O is not aligned to " + block);
        }
    }

    synchronized long read(long offset, byte[] target, int at, int count) {
        int got = (int) Math.max(0, Math.min(count, bytes.length - offset));
        System.arraycopy(bytes, (int) Math.min(offset, bytes.length), target, at, got);
        return got;
    }

    synchronized long write(long offset, byte[] source, int at, int count) {
        if (offset + count > bytes.length) {
            bytes = Arrays.copyOf(bytes, (int) offset + count);
        }
        System.arraycopy(source, at, bytes, (int) offset, count);
        return count;
    }

    @Override
    public Limits limits() {
        return new Limits(block, block, 1 << 20, 1 << 20, false);
    }

    @Override
    public Object identity() {
        return this;
    }

    @Override
    public long size() {
        return statesNoLength ? 0 : bytes.length;
    }

    @Override
    public void truncate(long size) {
        bytes = Arrays.copyOf(bytes, (int) size);
    }

    @Override
    public void preallocate(long size) {}

    @Override
    public void close() {}
}
