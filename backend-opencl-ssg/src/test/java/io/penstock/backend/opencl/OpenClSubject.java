// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.TransferPath;
import io.penstock.backend.opencl.memory.ClMemory;
import io.penstock.backend.opencl.staged.ClStagingBuffer;
import io.penstock.engine.kit.LiveObjects;
import io.penstock.engine.testing.GatedSubject;
import java.util.Map;
import java.util.Set;

/**
 * An OpenCL device of this machine as the TCK's subject.
 *
 * @param options that it is opened with
 * @param path that transfers are expected to name
 * @param fileOptions what files are opened with
 */
record OpenClSubject(Options options, TransferPath path, Set<FileOption> fileOptions) implements GatedSubject {

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
    public Map<String, Long> live() {
        return Map.of(
                "buffers",
                LiveObjects.count(ClMemory.class),
                "staging buffers",
                LiveObjects.count(ClStagingBuffer.class));
    }
}
