// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.nvme.path;

import io.penstock.TransferPath;
import io.penstock.backend.nvme.qemu.Qemu;
import io.penstock.backend.nvme.qemu.QtestBus;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import java.nio.file.Path;
import java.util.Map;

/** The rules over QEMU's controller. */
class NvmeTckTest implements BackendRules {

    private static final class Subject implements TckSubject {

        @Override
        public String backend() {
            return QemuProvider.NAME;
        }

        @Override
        public TransferPath path() {
            return TransferPath.HOST;
        }

        @Override
        public Path folder() {
            return Path.of("target", "tck");
        }

        /** QEMU reaches its own memory only. */
        @Override
        public boolean wrapsHostMemory() {
            return false;
        }

        @Override
        public Map<String, Long> live() {
            return Map.of("memory for DMA", QtestBus.live());
        }
    }

    @Override
    public TckSubject subject() {
        Qemu.require();
        return new Subject();
    }
}
