// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Option;
import java.util.List;

/** The options of the dx11 backend, in addition to the options of every backend and of staging. */
public final class Dx11Options {

    private static final Option.Group OPTIONS = new Option.Group();

    /** The adapter on which the backend creates its device. */
    public static final Option<String> ADAPTER = OPTIONS.add(Option.text(
            "penstock.dx11.adapter",
            "best",
            "the adapter: its number in the list of doctor, part of its name, warp (Microsoft's renderer on the"
                    + " processor), or best, the first that is hardware"));

    /** The device to use: the backend's own or the application's. */
    public static final Option<String> DEVICE = OPTIONS.add(Option.handle(
            "penstock.dx11.device", List.of("own"), "an ID3D11Device", "the device: its own, or the application's"));

    /** How the completion of a copy is detected. */
    public static final Option<CopyCompletion> COPY_COMPLETION = OPTIONS.add(Option.choice(
            "penstock.dx11.copy-completion",
            CopyCompletion.class,
            CopyCompletion.AUTO,
            "how the end of a copy is detected"));

    /** The most bytes that the driver copies out of a staging buffer at once. */
    public static final Option<Long> UPDATE_BYTES = OPTIONS.add(Option.bytes(
            "penstock.dx11.update-bytes",
            64L << 10,
            0,
            1L << 30,
            "segments up to this size are copied to the device by UpdateSubresource, longer ones by a copy"
                    + " from the staging buffer"));

    /** The path that transfers take. */
    public static final Option<Dx11Path> PATH = OPTIONS.add(
            Option.choice("penstock.dx11.path", Dx11Path.class, Dx11Path.AUTO, "the I/O path of transfers"));

    /** The constants of AMD's header. */
    public static final Option<String> SSG_HEADER = OPTIONS.add(Option.text(
            "penstock.dx11.ssg.header",
            "",
            "the constants of AMD's header that its manual omits, see docs/vendors/dx11.md;"
                    + " without them there is no SSG"));

    /** The library of AMD's driver. */
    public static final Option<String> SSG_LIBRARY = OPTIONS.add(
            Option.text("penstock.dx11.ssg.library", "", "the file of AMD's driver; without it atidxx64.dll"));

    /** The maximum size of one region of a transfer by AMD's interface. */
    public static final Option<Long> SSG_REGION_BYTES = OPTIONS.add(Option.bytes(
            "penstock.dx11.ssg.region-bytes",
            256L << 10,
            4096,
            1L << 30,
            "the most bytes of one region; according to AMD's manual several small ones can be faster"));

    /** The transfers by AMD's interface in flight, each with a thread that waits for it. */
    public static final Option<Integer> SSG_WAITERS = OPTIONS.add(Option.integer(
            "penstock.dx11.ssg.waiters",
            4,
            1,
            64,
            "the most calls in flight, and the most threads that wait for them"));

    /** True if transfers by AMD's interface have events. */
    public static final Option<Boolean> SSG_ASYNCHRONOUS = OPTIONS.add(Option.flag(
            "penstock.dx11.ssg.asynchronous",
            true,
            "whether calls are asynchronous and completed by events; if not, threads make blocking calls"));

    /** The Direct3D 11 library. */
    public static final Option<String> D3D11 =
            OPTIONS.add(Option.text("penstock.dx11.d3d11", "", "the file of d3d11.dll; without it the system's"));

    private Dx11Options() {}

    /** Returns all options of this backend. */
    public static List<Option<?>> all() {
        return OPTIONS.all();
    }
}
