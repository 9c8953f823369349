// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.backend.gpu.context.LateWord;

/**
 * The size of a transfer on a {@link CudaStream}, computed by earlier work in the stream: a kernel writes the 64-bit
 * word at {@link #nativeHandle()}, or the host calls {@link #set}. The stream reads the word when it reaches the
 * transfer.
 *
 * <p><b>Result:</b> the completion reports the bytes moved. After a read, the rest of the target is undefined. A write
 * writes so many bytes and no more: a file that ended before them ends behind them, and what it had behind them stays.
 *
 * <p><b>Errors:</b> a size that is negative or larger than the transfer, or is not a multiple of 4096 bytes though it
 * comes from {@link CudaStream#lateBlocks}, fails the transfer, whose bytes are undefined then.
 *
 * <p><b>Ownership:</b> its creator closes it once the transfers that read it are enqueued; the word lives until the
 * stream has completed them.
 */
public final class LateSize implements AutoCloseable {

    final LateWord word;

    LateSize(LateWord word) {
        this.word = word;
    }

    /** Returns the CUdeviceptr of the word, for kernels. */
    public long nativeHandle() {
        return word.deviceAddress();
    }

    /**
     * Sets the word, visible to a stream that reaches the transfer after this call.
     *
     * @throws IllegalArgumentException if {@code bytes} is negative, or not a multiple of 4096 as was promised
     */
    public void set(long bytes) {
        if (bytes < 0 || bytes % word.unit() != 0) {
            throw new IllegalArgumentException("size must be a multiple of " + word.unit() + ", was " + bytes);
        }
        word.set(bytes);
    }

    @Override
    public void close() {
        word.close();
    }
}
