// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.backend.opencl.paths.OpenClProvider;
import io.penstock.backend.opencl.staged.ClStagingBuffers;
import io.penstock.engine.testing.HeldCommands;
import io.penstock.engine.testing.HoldingPath;
import io.penstock.tck.Gate;
import io.penstock.tck.TckSubject;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/**
 * An OpenCL device of this machine as the TCK's subject.
 *
 * @param options that it is opened with
 * @param path that transfers are expected to name
 * @param fileOptions what files are opened with
 */
record OpenClSubject(Options options, TransferPath path, Set<FileOption> fileOptions) implements TckSubject {

    /** Makes the subject, or skips the test where there is no OpenCL. */
    static OpenClSubject of(Options options, TransferPath path, FileOption... fileOptions) {
        OpenCls.require();
        return new OpenClSubject(options, path, Set.of(fileOptions));
    }

    @Override
    public String backend() {
        return "opencl-ssg";
    }

    @Override
    public Backend open(Options options) {
        // As Backends does it, with commands held in front of the queues.
        return new OpenClProvider().open(options.resolve(Backends.options()), HoldingPath::new);
    }

    @Override
    public Optional<Gate> gate(Path folder) throws IOException {
        return Optional.of(HeldCommands.in(folder));
    }

    @Override
    public Path folder() {
        return Path.of("target", "tck"); // of the build: on a disk, where /tmp may be memory and refuse O_DIRECT
    }

    @Override
    public Map<String, Long> live() {
        return Map.of("buffers", ClMemory.LIVE.get(), "staging buffers", ClStagingBuffers.LIVE.get());
    }
}
