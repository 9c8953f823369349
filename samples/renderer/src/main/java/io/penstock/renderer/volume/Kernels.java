// SPDX-License-Identifier: Apache-2.0
package io.penstock.renderer.volume;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * A device that runs the kernels of {@code compose.cu}, in order.
 *
 * <p><b>Threading:</b> any thread, one at a time.
 */
public interface Kernels {

    /** Returns the content of a file of kernels, all ASCII. */
    static String source(String file) {
        return source(Kernels.class, file);
    }

    /** Returns the content of a file of kernels or shaders beside a class, all ASCII. */
    static String source(Class<?> beside, String file) {
        try (InputStream from = Objects.requireNonNull(beside.getResourceAsStream(file), file)) {
            return new String(from.readAllBytes(), StandardCharsets.US_ASCII);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Returns the address of new memory. */
    long allocate(long bytes);

    /** Frees memory, once the device has completed all earlier work. */
    void free(long address);

    /** Copies bytes, from position to limit, to the device, after all earlier work. */
    void put(ByteBuffer from, long address);

    /** Copies bytes from the device, after all earlier work; fills the buffer from position to limit. */
    void get(long address, ByteBuffer to);

    /** Returns the parameters that tell a kernel where a slab is. */
    default long[] parameters(DevicePlace slab) {
        return new long[] {slab.memory() + slab.offset()};
    }

    /**
     * Runs a kernel on a slab, which follows its first parameter, after all earlier work.
     *
     * @param arguments its other parameters
     */
    default void show(DevicePlace slab, String kernel, long indices, long... arguments) {
        long[] place = parameters(slab);
        long[] all = new long[arguments.length + place.length];
        all[0] = arguments[0];
        System.arraycopy(place, 0, all, 1, place.length);
        System.arraycopy(arguments, 1, all, 1 + place.length, arguments.length - 1);
        run(kernel, indices, all);
    }

    /**
     * Runs a kernel after all earlier work.
     *
     * @param kernel its name
     * @param indices how many indices it handles, each in its own thread
     * @param arguments its parameters: addresses and numbers
     */
    void run(String kernel, long indices, long... arguments);
}
