// SPDX-License-Identifier: Apache-2.0
package io.penstock.handover;

import ai.rapids.cudf.Cuda;
import ai.rapids.cudf.DataSource;
import ai.rapids.cudf.DeviceMemoryBuffer;
import ai.rapids.cudf.HostMemoryBuffer;
import io.penstock.Backend;
import io.penstock.DeviceBuffer;
import io.penstock.StorageFile;
import io.penstock.Transfer;
import java.nio.file.Path;

/** A file for cudf's readers, {@code Table.readParquet(options, source)}: what they decode goes straight to the GPU. */
final class CudfSource extends DataSource {

    private final Backend gpu;
    private final Backend host;
    private final StorageFile gpuFile;
    private final StorageFile hostFile;

    /** Opens the file by both backends, {@code cufile} and {@code host}. */
    CudfSource(Backend gpu, Backend host, Path path) {
        this.gpu = gpu;
        this.host = host;
        gpuFile = gpu.openFile(path).block();
        hostFile = host.openFile(path).block();
    }

    @Override
    public long size() {
        return hostFile.size();
    }

    @Override
    public boolean supportsDeviceRead() {
        return true;
    }

    @Override
    public long deviceRead(long offset, DeviceMemoryBuffer target, Cuda.Stream stream) {
        stream.sync(); // work that cudf has enqueued may still use this memory
        return read(gpu, gpuFile, offset, target.getAddress(), target.getLength());
    }

    @Override
    public long hostRead(long offset, HostMemoryBuffer target) {
        return read(host, hostFile, offset, target.getAddress(), target.getLength());
    }

    /** For the metadata. */
    @Override
    public HostMemoryBuffer hostRead(long offset, long length) {
        HostMemoryBuffer target = HostMemoryBuffer.allocate(Math.min(length, size() - offset));
        try {
            hostRead(offset, target);
            return target;
        } catch (RuntimeException e) {
            target.close();
            throw e;
        }
    }

    private static long read(Backend backend, StorageFile file, long offset, long address, long length) {
        long bytes = Math.min(length, file.size() - offset);
        try (DeviceBuffer target = backend.wrap(address, length)) {
            return backend.submit(Transfer.read(file.region(offset, bytes), target.region(0, bytes)))
                    .block()
                    .bytes();
        }
    }

    @Override
    public void close() {
        gpuFile.close();
        hostFile.close();
    }
}
