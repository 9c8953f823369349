// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.vfio;

import io.penstock.engine.kit.ffi.Errno;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * A kernel that has every device: it records calls, with the words of their structures, gives out descriptors from 10
 * on, and refuses the call that a test chooses.
 */
final class FakeKernel implements Kernel {

    static final int SPACE = 7; // the identifier of every address space

    // Of linux/vfio.h and linux/iommufd.h, printed by a C program.
    static final int GET_API_VERSION = 0x3b64;
    static final int CHECK_EXTENSION = 0x3b65;
    static final int GROUP_GET_STATUS = 0x3b67;
    static final int GROUP_GET_DEVICE_FD = 0x3b6a;
    static final int IOAS_ALLOC = 0x3b81;

    final List<String> calls = new ArrayList<>();
    final Map<Integer, String> open = new HashMap<>();
    int refused = -1; // the number of the call, from 0 on
    int groupStatus = 1;

    private int next = 10;

    private boolean isRefused(String call) {
        calls.add(call);
        return calls.size() - 1 == refused;
    }

    private int descriptor(String of) {
        open.put(next, of);
        return next++;
    }

    @Override
    public int open(String path) {
        return isRefused("open " + path) ? -Errno.EACCES : descriptor(path);
    }

    @Override
    public int ioctl(int fd, int request, long number) {
        if (isRefused("%s %x %d".formatted(open.get(fd), request, number))) {
            return -Errno.EBUSY;
        }
        return request == CHECK_EXTENSION ? 1 : 0;
    }

    @Override
    public int ioctl(int fd, int request, ByteBuffer structure) {
        List<Integer> words = new ArrayList<>();
        for (int at = 0; at < structure.capacity(); at += Integer.BYTES) {
            words.add(structure.getInt(at));
        }
        boolean isName = request == GROUP_GET_DEVICE_FD;
        String argument = isName ? name(structure) : words.toString();
        if (isRefused("%s %x %s".formatted(open.get(fd), request, argument))) {
            return -Errno.EBUSY;
        }
        switch (request) {
            case GROUP_GET_STATUS -> structure.putInt(4, groupStatus);
            case IOAS_ALLOC -> structure.putInt(8, SPACE);
            default -> {}
        }
        return isName ? descriptor("device") : 0;
    }

    private static String name(ByteBuffer structure) {
        StringBuilder name = new StringBuilder();
        for (int i = 0; structure.get(i) != 0; i++) {
            name.append((char) structure.get(i));
        }
        return name.toString();
    }

    @Override
    public void close(int fd) {
        calls.add("close " + open.get(fd));
        if (open.remove(fd) == null) {
            throw new AssertionError(fd + " is not open");
        }
    }

    /** Returns the two words of a number, as {@link #calls} has them. */
    static String words(long number) {
        int low = (int) number;
        int high = (int) (number >>> 32);
        return ByteOrder.nativeOrder() == ByteOrder.LITTLE_ENDIAN ? low + ", " + high : high + ", " + low;
    }
}
