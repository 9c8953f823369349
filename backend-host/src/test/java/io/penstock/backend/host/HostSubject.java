// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.Backend;
import io.penstock.BackendUnavailableException;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.Engine;
import io.penstock.engine.spi.file.HostIo;
import io.penstock.engine.spi.file.HostOptions;
import io.penstock.engine.spi.host.HostPath;
import io.penstock.engine.spi.memory.Slabs;
import io.penstock.engine.testing.HeldCommands;
import io.penstock.engine.testing.HoldingPath;
import io.penstock.tck.Gate;
import io.penstock.tck.Require;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * Host memory as the TCK's subject.
 *
 * @param io how host files are read and written
 * @param fileOptions what files are opened with
 */
record HostSubject(HostIo io, Set<FileOption> fileOptions) implements TckSubject {

    static HostSubject uring(FileOption... fileOptions) {
        HostSubject subject = new HostSubject(HostIo.URING, Set.of(fileOptions));
        String unavailable = null;
        try {
            HostPath.open(subject.options(), Slabs.shared());
        } catch (BackendUnavailableException e) {
            unavailable = e.getMessage();
        }
        Require.backend("io_uring", unavailable);
        return subject;
    }

    static HostSubject pool(FileOption... fileOptions) {
        return new HostSubject(HostIo.POOL, Set.of(fileOptions));
    }

    @Override
    public String backend() {
        return "host";
    }

    @Override
    public TransferPath path() {
        return TransferPath.HOST;
    }

    @Override
    public Path folder() {
        return Path.of("target", "tck"); // of the build: on a disk, where /tmp may be memory and refuse O_DIRECT
    }

    @Override
    public Options options() {
        return Options.none().with(HostOptions.IO, io);
    }

    @Override
    public Backend open(Options options) {
        // As HostProvider does it, with commands held in front of the queues: host files are regular files and block
        // devices, so that a named pipe cannot be the gate.
        Options resolved = options.resolve(Backends.options());
        HostPath ioPath = HostPath.open(resolved, Slabs.shared());
        return Engine.open(backend(), new HostDriver(), List.of(new HoldingPath(ioPath)), resolved);
    }

    @Override
    public Optional<Gate> gate(Path folder) throws IOException {
        return Optional.of(HeldCommands.in(folder));
    }

    @Override
    public Map<String, Long> live() {
        return Map.of(
                "slabs",
                Slabs.shared().liveSlabs(),
                "bytes of slabs",
                Slabs.shared().liveBytes());
    }
}
