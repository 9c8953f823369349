// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.backend.dx11.ssg.Dx11SsgFile;
import io.penstock.backend.dx11.staged.Dx11StagingBuffer;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.GatedSubject;
import java.util.Map;

/**
 * The fake of AMD's driver, on the device of this machine, as the TCK's subject.
 *
 * @param options that it is opened with
 */
record SsgSubject(Options options) implements GatedSubject {

    @Override
    public String backend() {
        return "dx11";
    }

    @Override
    public TransferPath path() {
        return TransferPath.DIRECT;
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "buffers", LiveObjects.count(Dx11Memory.class),
                "staging buffers", LiveObjects.count(Dx11StagingBuffer.class),
                "devices", LiveObjects.count(Dx11Device.class),
                "file handles", LiveObjects.count(Dx11SsgFile.class),
                "the driver's", (long) SsgFake.live());
    }
}
