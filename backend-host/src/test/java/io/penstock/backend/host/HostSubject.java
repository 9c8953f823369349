// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.BackendUnavailableException;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.engine.testing.GatedSubject;
import io.penstock.tck.Require;
import java.util.Map;
import java.util.Set;

/**
 * Host memory as the TCK's subject.
 *
 * @param io how host files are read and written
 * @param fileOptions what files are opened with
 */
record HostSubject(HostIo io, Set<FileOption> fileOptions) implements GatedSubject {

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
    public Options options() {
        return Options.none().with(HostOptions.IO, io);
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
