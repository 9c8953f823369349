// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.backend.nvme.NvmeOptions;
import io.penstock.backend.nvme.controller.Controller;
import io.penstock.backend.nvme.qemu.NbdDisk;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import io.penstock.spi.BackendProvider;
import java.io.IOException;
import java.util.List;

/**
 * The backend over QEMU's controller, which is started once and ends with the process, and a disk of ordinary files.
 */
public final class QemuProvider implements BackendProvider {

    static final String NAME = "nvme-qemu";

    private static final class Machine {
        static final FolderDisk FOLDER = new FolderDisk();
        static final Qemu QEMU = start();

        private static Qemu start() {
            try {
                return Qemu.start(new NbdDisk(FOLDER).drive(), "mdts=9");
            } catch (IOException e) {
                throw new java.io.UncheckedIOException(e);
            }
        }
    }

    @Override
    public String name() {
        return NAME;
    }

    @Override
    public String description() {
        return "QEMU's NVMe controller, for tests";
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
        String refusal = Qemu.refusal();
        return refusal == null
                ? Availability.available(false, "QEMU", List.of())
                : Availability.absent(refusal, "install it");
    }

    @Override
    public Backend open(Options options) {
        return NvmeProvider.open(NAME, NAME, () -> new QtestBus(Machine.QEMU), controller -> Machine.FOLDER, options);
    }

    /** Opens the backend over another controller, with ranges of its blocks as files. */
    public static Backend open(String controllerName, Controller.BusOpener bus) {
        return NvmeProvider.open(
                NAME,
                controllerName,
                bus,
                controller -> new BlockRanges(controller, true, 1 << 20),
                Options.none().resolve(Backends.options()));
    }
}
