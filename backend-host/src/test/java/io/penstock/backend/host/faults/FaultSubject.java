// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.engine.kit.host.HostPath;
import io.penstock.engine.kit.memory.Slabs;
import io.penstock.engine.options.HostIo;
import io.penstock.engine.options.HostOptions;
import io.penstock.tck.Require;
import io.penstock.tck.TckSubject;
import java.nio.file.Path;
import java.util.Map;

/**
 * Host memory, checked for leaks after each fault.
 *
 * @param io how files are read and written
 */
record FaultSubject(HostIo io) implements TckSubject {

    /** Returns the subject over io_uring, or skips the test. */
    static FaultSubject uring() {
        FaultSubject subject = new FaultSubject(HostIo.URING);
        Require.backend("io_uring", HostPath.probe(subject.options()));
        return subject;
    }

    /** Returns the subject over threads that make blocking calls. */
    static FaultSubject pool() {
        return new FaultSubject(HostIo.POOL);
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
        return Path.of(System.getProperty("basedir", ""), "target", "faults");
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
