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

    /** Which way transfers take. */
    public static final Option<Dx11Path> PATH =
            Option.choice("penstock.dx11.path", Dx11Path.class, Dx11Path.AUTO, "which way transfers take");

    /** AmdDxExtSsgID of AMD's header. */
    public static final Option<String> SSG_INTERFACE = Option.text(
            "penstock.dx11.ssg.interface", "", "AmdDxExtSsgID of AMD's header, a number; without it there is no SSG");

    /** AmdDxSsgFile_Read of AMD's header. */
    public static final Option<String> SSG_READ_ACCESS = Option.text(
            "penstock.dx11.ssg.read-access",
            "",
            "AmdDxSsgFile_Read of AMD's header, a number; without it there is no SSG");

    /** The access for writing of AMD's header. */
    public static final Option<String> SSG_WRITE_ACCESS = Option.text(
            "penstock.dx11.ssg.write-access",
            "",
            "the AmdDxSsgFileAccess for writing of AMD's header, a number; without it there is no SSG");

    /** How the structures of AMD's header lie in memory. */
    public static final Option<String> SSG_LAYOUT = Option.text(
            "penstock.dx11.ssg.layout",
            "",
            "how the structures of AMD's header lie in memory, see docs/dx11.md; without it there is no SSG");

    /** Where AMD's driver is. */
    public static final Option<String> SSG_LIBRARY =
            Option.text("penstock.dx11.ssg.library", "", "the file of AMD's driver; without it atidxx64.dll");

    /** How large one region of a transfer of AMD's is at most. */
    public static final Option<Long> SSG_REGION_BYTES = Option.bytes(
            "penstock.dx11.ssg.region-bytes",
            256L << 10,
            4096,
            1L << 30,
            "the most bytes of one region; AMD's manual says that several small ones can be faster");

    /** How many transfers of AMD's are in flight, each with a thread that waits for it. */
    public static final Option<Integer> SSG_WAITERS = Option.integer(
            "penstock.dx11.ssg.waiters", 4, 1, 64, "the most calls in flight, and the most threads that wait for them");

    /** Whether transfers of AMD's have events. */
    public static final Option<Boolean> SSG_ASYNCHRONOUS = Option.flag(
            "penstock.dx11.ssg.asynchronous",
            true,
            "whether calls return at once and are waited for by events; if not, threads make calls that block");

    /** Where Direct3D 11 is. */
    public static final Option<String> D3D11 =
            Option.text("penstock.dx11.d3d11", "", "the file of d3d11.dll; without it the system's");

    private Dx11Options() {}

    /** Returns all of them. */
    public static List<Option<?>> all() {
        return List.of(
                ADAPTER,
                DEVICE,
                PATH,
                COPY_END,
                UPDATE_BYTES,
                D3D11,
                SSG_INTERFACE,
                SSG_READ_ACCESS,
                SSG_WRITE_ACCESS,
                SSG_LAYOUT,
                SSG_LIBRARY,
                SSG_REGION_BYTES,
                SSG_WAITERS,
                SSG_ASYNCHRONOUS);
    }
}
