// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.staging;

import io.penstock.NativeError;
import io.penstock.engine.host.blocking.BufferBytes;
import io.penstock.engine.host.blocking.HostBytes;
import io.penstock.engine.kit.ffi.Errno;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.NativeFailure;
import io.penstock.engine.spi.NativeFile;
import io.penstock.engine.spi.Request;
import java.io.IOException;
import java.util.ArrayDeque;
import java.util.HashSet;
import java.util.Random;
import java.util.Set;

/** Host memory at made-up addresses, and host I/O on {@link FakeFile}s that is as short and strict as it may be. */
final class FakeHost implements HostBytes {

    static final int EIO = -5;
    private static final long BASE = 1L << 32;

    final byte[] space;
    private final Random random;
    private final Set<Long> copying = new HashSet<>(); // staging buffers that the device has, by address
    private final Set<Long> known = new HashSet<>(); // staging buffers that are not let go of yet, by address
    private int allocated;
    private int freed;
    boolean shortCounts = true;
    final ArrayDeque<Integer> nextCounts = new ArrayDeque<>(); // of calls that are interrupted, wherever that is
    int failures; // that many calls fail
    boolean throwsAtRead; // an exception of each read's own
    Runnable atCall = () -> {}; // run by each read and write
    int calls;
    int callsByBuffers;

    FakeHost(int bytes, long seed) {
        space = new byte[bytes];
        random = new Random(seed);
    }

    synchronized DeviceMemory allocate(long bytes) {
        long address = BASE + allocated;
        allocated += (int) (bytes + 4095) / 4096 * 4096;
        check(address, bytes);
        return new DeviceMemory() {
            @Override
            public long bytes() {
                return bytes;
            }

            @Override
            public long nativeHandle() {
                return address;
            }

            @Override
            public long hostAddress() {
                return address;
            }

            @Override
            public void free() {
                if (known.contains(address)) {
                    throw new AssertionError("a staging buffer is freed that is still in use");
                }
                freed += (int) (bytes + 4095) / 4096 * 4096;
            }
        };
    }

    synchronized boolean allFreed() {
        return freed == allocated;
    }

    synchronized void copying(long staging, boolean now) {
        if (now ? !copying.add(staging) : !copying.remove(staging)) {
            throw new AssertionError("staging buffer " + staging + " is copied twice");
        }
    }

    int index(long address) {
        return (int) (address - BASE);
    }

    private void check(long address, long bytes) {
        if (address < BASE || address + bytes > BASE + space.length) {
            throw new AssertionError("no memory: " + bytes + " bytes at " + (address - BASE));
        }
        for (long staging : copying) {
            if (address <= staging && staging < address + bytes) {
                throw new AssertionError("host I/O touches a staging buffer that is being copied");
            }
        }
    }

    private boolean fails() {
        atCall.run();
        calls++;
        if (failures == 0) {
            return false;
        }
        failures--;
        return true;
    }

    private int count(long bytes, long block) {
        Integer count = nextCounts.poll();
        if (count != null) {
            return count;
        }
        long blocks = bytes / block;
        return (int)
                (shortCounts && blocks > 1 && random.nextInt(4) == 0
                        ? block * (1 + random.nextInt((int) blocks - 1))
                        : bytes);
    }

    @Override
    public synchronized BufferBytes of(DeviceMemory staging) {
        known.add(staging.hostAddress());
        return new BufferBytes() {
            @Override
            public long read(NativeFile file, long fileOffset, long address, long bytes) throws IOException {
                checkBuffer(staging, address, bytes);
                return FakeHost.this.read(file, fileOffset, address, bytes);
            }

            @Override
            public long write(NativeFile file, long fileOffset, long address, long bytes) {
                checkBuffer(staging, address, bytes);
                return FakeHost.this.write(file, fileOffset, address, bytes);
            }

            @Override
            public void close() {
                known.remove(staging.hostAddress());
            }
        };
    }

    private synchronized void checkBuffer(DeviceMemory staging, long address, long bytes) {
        callsByBuffers++;
        if (address < staging.hostAddress()
                || address + bytes > staging.hostAddress() + staging.bytes()
                || !known.contains(staging.hostAddress())) {
            throw new AssertionError("not in this staging buffer, or too late: " + bytes + " bytes at " + address);
        }
    }

    @Override
    public synchronized long read(NativeFile file, long fileOffset, long address, long bytes) throws IOException {
        check(address, bytes);
        FakeFile fake = (FakeFile) file;
        long edges = fileOffset | address | bytes;
        if (fake.statesNoLength && (edges & (fake.block - 1)) != 0 && !fake.readsAnywhere) {
            return -Errno.EINVAL;
        }
        if (!fake.statesNoLength) {
            fake.checkAligned(edges);
        }
        if (throwsAtRead) {
            throw new IOException("read at " + fileOffset);
        }
        int count = count(bytes, fake.block);
        return fails() || count < 0 ? EIO : fake.read(fileOffset, space, index(address), count);
    }

    @Override
    public synchronized long write(NativeFile file, long fileOffset, long address, long bytes) {
        check(address, bytes);
        FakeFile fake = (FakeFile) file;
        fake.checkAligned(fileOffset | address | bytes);
        return fails() ? EIO : fake.write(fileOffset, space, index(address), count(bytes, fake.block));
    }

    @Override
    public synchronized long sync(NativeFile file) {
        ((FakeFile) file).syncs++;
        return fails() ? EIO : 0;
    }

    @Override
    public long blockBytes(NativeFile file) {
        return ((FakeFile) file).block;
    }

    @Override
    public synchronized void move(long target, long source, long bytes) {
        check(target, bytes);
        check(source, bytes);
        System.arraycopy(space, index(source), space, index(target), (int) bytes);
    }

    @Override
    public NativeFailure failure(Request.Kind kind, long result) {
        return new NativeFailure(new NativeError("pread", -result, "EIO"), NativeFailure.Kind.PERMANENT);
    }

    @Override
    public NativeFailure failure(Request.Kind kind, Throwable thrown) {
        return new NativeFailure(new NativeError("pread", 0, thrown.toString()), NativeFailure.Kind.PERMANENT);
    }
}
