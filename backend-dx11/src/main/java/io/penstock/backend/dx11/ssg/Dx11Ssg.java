// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11.ssg;

import io.penstock.CommonOptions;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.backend.dx11.Dx11Options;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.engine.kit.ssg.SsgCommands;
import io.penstock.engine.kit.ssg.SsgDevice;
import io.penstock.engine.kit.ssg.SsgFileObject;
import io.penstock.engine.kit.ssg.SsgQueue;
import io.penstock.engine.kit.ssg.SsgRefusal;
import io.penstock.engine.kit.ssg.SsgSizes;
import io.penstock.engine.kit.ssg.SsgTexts;
import io.penstock.engine.spi.DeviceMemory;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * AMD's {@code IAmdDxExtSSG} of one device; the disk can access buffers of usage DEFAULT.
 *
 * <p><b>Threading:</b> the manual does not mention threads. Only the I/O queue's thread submits transfers; other
 * threads concurrently open and close files, and wait for and destroy events.
 *
 * <p><b>Ownership:</b> reference-counted, with one reference per file; the last one releases the interface and the
 * device.
 */
public final class Dx11Ssg extends SsgDevice<Dx11SsgCommand> {

    private static final SsgTexts TEXTS = new SsgTexts(
            "counts are computed, since IAmdDxExtSSG reports none, nor how an asynchronous transfer ended",
            "the buffer is not of usage DEFAULT",
            "",
            "",
            "");

    private final Dx11Device device;
    private final Options options;
    private final SsgInterface ssg;

    private Dx11Ssg(Dx11Device device, Options options, SsgInterface ssg) {
        super(SsgSizes.of(options, CommonOptions.SEGMENT_BYTES, 0), TEXTS);
        this.device = device;
        this.options = options;
        this.ssg = ssg;
        device.join();
    }

    /** Returns why no driver can be queried for it; an empty string if one can. */
    public static String whyNot(Options options) {
        return options.get(Dx11Options.SSG_HEADER).isBlank()
                ? "AMD's manual omits constants of its interface, and " + Dx11Options.SSG_HEADER
                        + " does not set them: no SSG"
                : "";
    }

    /**
     * Queries the driver of a device for it.
     *
     * @throws SsgRefusal with the reason, if it is not available
     */
    public static Dx11Ssg open(Dx11Device device, Options options) throws SsgRefusal {
        return new Dx11Ssg(device, options, SsgInterface.open(device.handle(), options));
    }

    /** Returns its version, as reported by the driver. */
    public String version() {
        return ssg.version();
    }

    /** Returns the layout of its structures. */
    SsgHeader header() {
        return ssg.header();
    }

    @Override
    public SsgFileObject open(Path path, boolean write) throws IOException {
        join();
        try {
            return Dx11SsgFile.open(ssg, path, write, this::leave);
        } catch (IOException | RuntimeException | Error e) {
            leave();
            throw e;
        }
    }

    @Override
    protected String refusal(Target target, @Nullable DeviceMemory memory) {
        if (memory instanceof Dx11Memory) {
            return "";
        }
        return target instanceof ImageRegion
                ? "AMD's interface reads into buffers, not into textures"
                : "the target is not a buffer of this device";
    }

    @Override
    protected boolean isReachable(DeviceMemory memory) {
        return ((Dx11Memory) memory).isDefault();
    }

    @Override
    protected DeviceMemory allocateBounceBuffer(long bytes) {
        return new SsgBounceBuffer(device, bytes);
    }

    @Override
    protected SsgCommands<Dx11SsgCommand> openQueue(SsgQueue<Dx11SsgCommand> queue) {
        return new Dx11SsgQueue(
                device.executor().pump(),
                queue,
                () -> new SsgCall(ssg, device.handle(), sizes().segmentBytes(), options),
                options);
    }

    @Override
    protected void close() {
        ssg.release();
        device.leave();
    }
}
