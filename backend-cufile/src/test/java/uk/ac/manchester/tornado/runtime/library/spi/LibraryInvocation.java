// SPDX-License-Identifier: Apache-2.0
package uk.ac.manchester.tornado.runtime.library.spi;

/**
 * As TornadoVM 7.0.1 declares it, for a recipe to be compiled and called: its artifacts are not to be had by this
 * build.
 */
public final class LibraryInvocation {

    private final long[] devicePointers;
    private final LibraryContext context;
    private final Object tuning;
    private final boolean capturing;

    public LibraryInvocation(long[] devicePointers, LibraryContext context, Object tuning, boolean capturing) {
        this.devicePointers = devicePointers;
        this.context = context;
        this.tuning = tuning;
        this.capturing = capturing;
    }

    public long getDevicePointer(int index) {
        return devicePointers[index];
    }

    public LibraryContext getContext() {
        return context;
    }

    public Object getTuning() {
        return tuning;
    }

    public boolean isCapturing() {
        return capturing;
    }
}
