// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.CommonOptions;
import io.penstock.ImageRegion;
import io.penstock.Options;
import io.penstock.Target;
import io.penstock.backend.dx11.ffi.AmdDriver;
import io.penstock.backend.dx11.ffi.AmdExtension;
import io.penstock.backend.dx11.ffi.AmdSsg;
import io.penstock.backend.dx11.ffi.Hresult;
import io.penstock.engine.spi.DeviceMemory;
import io.penstock.engine.spi.ssg.SsgCommands;
import io.penstock.engine.spi.ssg.SsgDevice;
import io.penstock.engine.spi.ssg.SsgFileObject;
import io.penstock.engine.spi.ssg.SsgQueue;
import io.penstock.engine.spi.ssg.SsgRefusal;
import io.penstock.engine.spi.ssg.SsgSizes;
import io.penstock.engine.spi.ssg.SsgWords;
import java.io.IOException;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * AMD's {@code IAmdDxExtSSG} of one device; the disk reaches buffers of usage DEFAULT.
 *
 * <p><b>Threading:</b> the manual says nothing of threads. Transfers are submitted by one, the lane's; files are opened
 * and closed, and events waited for and destroyed, by others meanwhile.
 *
 * <p><b>Ownership:</b> its files and slots are users, too; the last lets go of the interface, of the extension and of the
 * device.
 */
final class Dx11Ssg extends SsgDevice<Dx11SsgCommand> {

    private static final SsgWords WORDS = new SsgWords(
            "counts are computed, since IAmdDxExtSSG gives none, nor how an asynchronous transfer ended",
            "the buffer is not of usage DEFAULT",
            "",
            "",
            "");

    private final Dx11Device device;
    private final Options options;
    private final SsgTerms terms;
    private final long extension;
    private final long ssg;
    private final String version;

    private Dx11Ssg(Dx11Device device, Options options, SsgTerms terms, long[] objects, String version) {
        super(SsgSizes.of(options, CommonOptions.PIECE_BYTES, 0), WORDS);
        this.device = device;
        this.options = options;
        this.terms = terms;
        this.extension = objects[0];
        this.ssg = objects[1];
        this.version = version;
    }

    /**
     * Asks the driver of a device for it.
     *
     * @throws SsgRefusal with the reason, where there is none
     */
    static Dx11Ssg open(Dx11Device device, Options options) throws SsgRefusal {
        SsgTerms terms = SsgTerms.of(options);
        String why = AmdDriver.load(options.get(Dx11Options.SSG_LIBRARY));
        if (!why.isEmpty()) {
            throw new SsgRefusal("AMD's driver cannot be loaded: " + why);
        }
        long[] extension = new long[1];
        int created = AmdDriver.AmdDxExtCreate11(device.handle(), extension);
        check("AMD's extensions", "AmdDxExtCreate11", created);
        if (extension[0] == 0) {
            throw new SsgRefusal("AmdDxExtCreate11 gives no extension for this device, and no error");
        }
        long ssg = AmdExtension.GetExtInterface(extension[0], terms.interfaceId());
        if (ssg == 0) {
            AmdExtension.Release(extension[0]);
            throw new SsgRefusal("the driver has no interface 0x" + Integer.toHexString(terms.interfaceId())
                    + ": IAmdDxExt::GetExtInterface -> NULL");
        }
        try {
            String version = version(ssg, terms.layout());
            device.join();
            return new Dx11Ssg(device, options, terms, new long[] {extension[0], ssg}, version);
        } catch (SsgRefusal | RuntimeException e) {
            AmdSsg.Release(ssg);
            AmdExtension.Release(extension[0]);
            throw e;
        }
    }

    private static String version(long ssg, SsgLayout layout) throws SsgRefusal {
        byte[] told = new byte[layout.version().bytes()];
        int result = AmdSsg.GetExtensionVersion(ssg, told);
        check("the extension's version", "IAmdDxExtSSG::GetExtensionVersion", result);
        SsgLayout.Shape version = layout.version();
        return version.get(told, "major") + "." + version.get(told, "minor") + ", liquid flash build "
                + version.get(told, "build");
    }

    SsgLayout layout() {
        return terms.layout();
    }

    /** Returns the interface's address. */
    long handle() {
        return ssg;
    }

    /** Returns its version, as its driver counts. */
    String version() {
        return version;
    }

    Dx11Device device() {
        return device;
    }

    /** Returns how a file is opened. */
    int access(boolean write) {
        return write ? terms.writeAccess() : terms.readAccess();
    }

    @Override
    public SsgFileObject open(Path path, boolean write) throws IOException {
        return Dx11SsgFile.open(this, path, write);
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
        return !(memory instanceof Dx11Memory buffer) || buffer.isDefault();
    }

    @Override
    protected DeviceMemory allocateSlot(long bytes) {
        return SsgSlot.allocate(this, bytes);
    }

    @Override
    protected SsgCommands<Dx11SsgCommand> openQueue(SsgQueue<Dx11SsgCommand> queue) {
        return new Dx11SsgQueue(this, options, queue);
    }

    @Override
    protected void close() {
        AmdSsg.Release(ssg);
        AmdExtension.Release(extension);
        device.leave();
    }

    /** Throws {@link SsgRefusal} if an answer is a failure. */
    static void check(String request, String call, int result) throws SsgRefusal {
        if (Hresult.failed(result)) {
            throw new SsgRefusal(request, Dx11Failure.error(call, result));
        }
    }
}
