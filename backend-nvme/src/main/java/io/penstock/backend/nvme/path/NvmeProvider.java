// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.CommonOptions;
import io.penstock.Failure;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.Outcome;
import io.penstock.backend.nvme.NvmeOptions;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.controller.ControllerException;
import io.penstock.backend.nvme.vfio.VfioBus;
import io.penstock.backend.nvme.vfio.VfioProbe;
import io.penstock.engine.Engine;
import io.penstock.engine.kit.ffi.ErrnoException;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.spi.BackendProvider;
import java.io.IOException;
import java.util.List;
import java.util.function.Function;

/** Opens the controller that the options name. */
public final class NvmeProvider implements BackendProvider {

    /** Creates a provider; for {@link java.util.ServiceLoader}. */
    public NvmeProvider() {}

    @Override
    public String name() {
        return "nvme";
    }

    @Override
    public String description() {
        return "an NVMe controller driven from user space, by VFIO";
    }

    @Override
    public int gpuOrder() {
        return Integer.MAX_VALUE;
    }

    @Override
    public List<Option<?>> options() {
        return NvmeOptions.all();
    }

    @Override
    public Availability probe(Options options) {
        if (!Machine.isSupported()) {
            return Availability.absent(
                    "VFIO requires 64-bit Linux, not " + Machine.operatingSystem() + " on " + Machine.architecture(),
                    "use it on such a system");
        }
        return NativeAccess.probe(
                () -> VfioProbe.probe(options.get(NvmeOptions.DEVICE), NvmeOptions.DEVICE.name()), "");
    }

    @Override
    public Backend open(Options options) {
        String address = options.get(NvmeOptions.DEVICE);
        if (address.isEmpty()) {
            throw new IllegalArgumentException(NvmeOptions.DEVICE
                    + " must be set, to the PCI address of the controller such as 0000:04:00.0: by -D"
                    + NvmeOptions.DEVICE + "=ADDRESS, " + NvmeOptions.DEVICE.variable() + "=ADDRESS, or in code");
        }
        if (!BlockRanges.isAddress(address)) {
            throw new IllegalArgumentException(
                    NvmeOptions.DEVICE + " must be a PCI address such as 0000:04:00.0, was '" + address + "'");
        }
        Availability availability = probe(options);
        if (!availability.available()) {
            throw new BackendUnavailableException(
                    availability.reason() + "; " + availability.remedy(), Failure.NOT_STARTED, null);
        }
        return open(
                name(),
                address,
                () -> VfioBus.open(address),
                controller -> new BlockRanges(
                        controller, options.get(NvmeOptions.WRITE), options.get(CommonOptions.SEGMENT_BYTES)),
                options);
    }

    /** Opens a backend over any bus, with the files that a controller has; for tests too. */
    static Backend open(
            String name,
            String controllerName,
            Controller.BusOpener bus,
            Function<Controller, NvmeFiles> files,
            Options options) {
        try {
            Controller controller = Controller.open(controllerName, bus, options.get(NvmeOptions.TIMEOUT));
            NvmePath ioPath = new NvmePath(controller, files.apply(controller), options);
            return Engine.open(name, new NvmeDriver(controller), List.of(ioPath), options);
        } catch (IOException e) {
            throw new BackendUnavailableException("the controller cannot be opened: " + e.getMessage(), failure(e), e);
        }
    }

    private static Failure failure(IOException cause) {
        if (cause instanceof ControllerException refused) {
            return new Failure(Outcome.NOT_STARTED, refused.failure().error());
        }
        return cause instanceof ErrnoException errno
                ? new Failure(Outcome.NOT_STARTED, errno.nativeError())
                : Failure.NOT_STARTED;
    }
}
