// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.dx11;

import io.penstock.Backend;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.dx11.device.Dx11Device;
import io.penstock.backend.dx11.image.Dx11Image;
import io.penstock.backend.dx11.memory.Dx11Memory;
import io.penstock.backend.dx11.paths.Dx11Provider;
import io.penstock.backend.dx11.staged.Dx11StagingBuffer;
import io.penstock.engine.testing.HeldCommands;
import io.penstock.engine.testing.HoldingPath;
import io.penstock.tck.Gate;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;

/**
 * A Direct3D 11 device of this machine as the TCK's subject.
 *
 * @param options that it is opened with
 */
record Dx11Subject(Options options) implements TckSubject {

    @Override
    public String backend() {
        return "dx11";
    }

    @Override
    public Backend open(Options options) {
        // As Backends does it, with commands held in front of the queues.
        return new Dx11Provider().open(Dx11s.resolved(options), HoldingPath::new);
    }

    @Override
    public TransferPath path() {
        return TransferPath.STAGED;
    }

    @Override
    public Optional<Gate> gate(Path folder) throws IOException {
        return Optional.of(HeldCommands.in(folder));
    }

    @Override
    public Path folder() {
        return Path.of("target", "tck");
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "buffers", Dx11Memory.LIVE.get(),
                "textures", Dx11Image.LIVE.get(),
                "staging buffers", Dx11StagingBuffer.LIVE.get(),
                "devices", Dx11Device.LIVE.get());
    }
}
