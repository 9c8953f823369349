// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.ucx;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.remote.ucx.ffi.Ucp;
import java.io.IOException;
import java.nio.ByteBuffer;
import reactor.core.publisher.Mono;

/**
 * What an export gives access to: memory that UCX accesses by its address, or bytes that are moved to and from staging
 * memory.
 */
interface Source {

    /** Returns the address of its first byte; 0 if UCX does not access it. */
    default long address() {
        return 0;
    }

    /** Returns whether the processor reaches the memory at {@link #address}. */
    default boolean isHostMemory() {
        return false;
    }

    /** Returns UCX's type of the memory at {@link #address}. */
    default int memoryType() {
        return Ucp.UCS_MEMORY_TYPE_HOST;
    }

    /** Prepares the thread of a connection for accesses of UCX. */
    default void enter() throws IOException {}

    /** Returns its length in bytes. */
    long size();

    /** Returns whether a write may change its length. */
    default boolean mayGrow() {
        return false;
    }

    /** Fills staging memory; returns the bytes read. */
    Mono<Long> read(long offset, BufferRegion staging);

    /** Writes what is in staging memory. */
    Mono<?> write(long offset, BufferRegion staging);

    /** Makes what was written durable; memory is nothing else. */
    default Mono<Void> sync() {
        return Mono.empty();
    }

    /** Releases what it holds; no access is in progress. */
    void release();

    /** Returns the processor's address of a buffer that has a view; its handle may be another number, as in OpenGL. */
    static long hostAddress(DeviceBuffer buffer) {
        return NativeMemory.address(buffer.hostView().orElseThrow().buffer(0, 0));
    }

    private static ByteBuffer window(BufferRegion staging) {
        return staging.buffer().hostView().orElseThrow().buffer(staging.offset(), (int) staging.length());
    }

    /** Memory of the host. */
    record Memory(long address, long size, Runnable releasing) implements Source {

        @Override
        public boolean isHostMemory() {
            return true;
        }

        @Override
        public Mono<Long> read(long offset, BufferRegion staging) {
            throw new UnsupportedOperationException("memory of the host is not staged");
        }

        @Override
        public Mono<?> write(long offset, BufferRegion staging) {
            throw new UnsupportedOperationException("memory of the host is not staged");
        }

        @Override
        public void release() {
            releasing.run();
        }
    }

    /** A file, read and written by a backend. */
    record OfFile(Backend backend, StorageFile file) implements Source {

        @Override
        public long size() {
            return file.size();
        }

        @Override
        public boolean mayGrow() {
            return true;
        }

        @Override
        public Mono<Long> read(long offset, BufferRegion staging) {
            return backend.submit(Transfer.read(file.region(offset, staging.length()), staging))
                    .map(Completion::bytes);
        }

        @Override
        public Mono<?> write(long offset, BufferRegion staging) {
            return backend.submit(Transfer.write(staging, file.region(offset, staging.length())));
        }

        @Override
        public Mono<Void> sync() {
            return file.sync();
        }

        @Override
        public void release() {
            // the file is closed by the application
        }
    }

    /**
     * Memory of a device that the processor does not reach.
     *
     * @param address by which UCX accesses it; 0 if it does not
     * @param device of {@code access}
     */
    record OfDevice(DeviceBuffer buffer, long address, DeviceAccess access, int device, Runnable releasing)
            implements Source {

        @Override
        public int memoryType() {
            return access.memoryType();
        }

        @Override
        public void enter() throws IOException {
            if (address != 0) {
                access.enter(device);
            }
        }

        @Override
        public long size() {
            return buffer.length();
        }

        @Override
        public Mono<Long> read(long offset, BufferRegion staging) {
            return buffer.download(offset, window(staging));
        }

        @Override
        public Mono<?> write(long offset, BufferRegion staging) {
            return buffer.upload(offset, window(staging));
        }

        @Override
        public void release() {
            releasing.run();
        }
    }
}
