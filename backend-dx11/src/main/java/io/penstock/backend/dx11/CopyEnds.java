// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.backend.dx11.ffi.D3d11Context4;
import io.penstock.backend.dx11.ffi.D3d11Device5;
import io.penstock.backend.dx11.ffi.Unknown;
import io.penstock.engine.spi.NativeFailure;
import org.jspecify.annotations.Nullable;

/**
 * How the ends of copies are learnt. A place behind everything issued so far is marked and looked at from time to time.
 *
 * <p><b>Threading:</b> the executor's thread, but for {@link #equip} and {@link #strip}.
 */
interface CopyEnds {

    /** How often a mark is looked at before the device is asked whether it is still there. */
    int LOOKS = 256;

    /** Makes what a mark needs. */
    void equip(CopyMark mark);

    /** Gives back what {@link #equip} has made. */
    void strip(CopyMark mark);

    /**
     * Marks the place behind what has been issued.
     *
     * @return why that failed, or null
     */
    @Nullable
    NativeFailure mark(CopyMark mark);

    /**
     * Looks whether the device has passed a mark, or will not: {@link CopyMark#failure} says why.
     *
     * @return whether there is nothing to wait for any more
     */
    boolean look(CopyMark mark);

    /** Has {@code event} set when the next mark is passed; returns whether it will be. */
    boolean ring(long event);

    /**
     * Returns a fence or query that is passed behind everything issued so far, with a reference of the caller's; 0 if
     * the device gives none.
     */
    long fence();

    /** Lets go of what is held for all marks. */
    void close();

    /**
     * Chooses, for a device.
     *
     * @throws io.penstock.BackendUnavailableException if fences are asked for and it has none
     */
    static CopyEnds of(Dx11Device device, CopyEnd wanted) {
        if (wanted != CopyEnd.QUERY) {
            long device5 = Unknown.as(device.handle(), D3d11Device5.TABLE);
            long context4 = Unknown.as(device.context(), D3d11Context4.TABLE);
            if (device5 != 0 && context4 != 0) {
                return FenceEnds.open(device, device5, context4);
            }
            release(device5);
            release(context4);
            if (wanted == CopyEnd.FENCE) {
                throw Dx11Failure.unavailable(Dx11Options.COPY_END
                        + "=fence, but this device has no ID3D11Device5: fences came with Windows 10" + " 1703");
            }
        }
        return new QueryEnds(device);
    }

    private static void release(long object) {
        if (object != 0) {
            Unknown.Release(object);
        }
    }
}
