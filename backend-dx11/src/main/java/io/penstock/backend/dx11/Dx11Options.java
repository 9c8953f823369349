// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Option;
import java.util.List;

/** The options of the dx11 backend, beside those of every backend and those of staging. */
public final class Dx11Options {

    /** Which adapter a device of ours is made on. */
    public static final Option<String> ADAPTER = Option.text(
            "penstock.dx11.adapter",
            "best",
            "the adapter: its number as doctor counts, part of its name, warp (Microsoft's renderer on the processor), or"
                    + " best, the first that is hardware");

    /** Whose device. */
    public static final Option<String> DEVICE = Option.text(
            "penstock.dx11.device", "own", "own, or the address of an ID3D11Device of the application's, 0x7f12...");

    /** By what the end of a copy is learnt. */
    public static final Option<CopyEnd> COPY_END =
            Option.choice("penstock.dx11.copy-end", CopyEnd.class, CopyEnd.AUTO, "by what the end of a copy is learnt");

    /** Up to how many bytes the driver copies away from a slot at once. */
    public static final Option<Long> UPDATE_BYTES = Option.bytes(
            "penstock.dx11.update-bytes",
            64L << 10,
            0,
            1L << 30,
            "pieces of up to so many bytes go to the device by UpdateSubresource, longer ones by a copy from the slot");

    /** Where Direct3D 11 is. */
    public static final Option<String> D3D11 =
            Option.text("penstock.dx11.d3d11", "", "the file of d3d11.dll; without it the system's");

    private Dx11Options() {}

    /** Returns all of them. */
    public static List<Option<?>> all() {
        return List.of(ADAPTER, DEVICE, COPY_END, UPDATE_BYTES, D3D11);
    }
}
