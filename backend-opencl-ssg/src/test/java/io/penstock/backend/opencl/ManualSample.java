// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.opencl;

import static io.penstock.FileOption.READ;

import io.penstock.Backend;
import io.penstock.BufferRegion;
import io.penstock.Completion;
import io.penstock.FileRegion;
import io.penstock.Transfer;
import java.nio.file.Path;
import reactor.core.publisher.Mono;

/** AMD's code sample for OpenCL (chapter 5 of the manual), line for line; docs/vendors/opencl-ssg.md has it too. */
final class ManualSample {

    private ManualSample() {}

    /**
     * Reads a part of a file into a new buffer.
     *
     * @param size of the buffer, DATA_SIZE_IN_BYTES
     * @param length SIZE_TO_READ
     */
    static Mono<Completion> read(Backend backend, Path name, long size, long length) {
        long fileOffset = 0; // FILE_OFFSET: any, we align
        long bufferOffset = 0; // BUFF_OFFSET: any
        // sample
        return backend.withFile(
                name,
                READ,
                file -> { // Create file.
                    long fileSize = file.size(); // Get the file-size information.
                    long toRead = Math.min(length, fileSize - fileOffset); // The sector size is the planner's business.
                    return backend.withBuffer(
                            size,
                            buffer -> { // Create buffer, persistent while there is such memory.
                                FileRegion from = file.region(fileOffset, toRead);
                                BufferRegion to = buffer.region(bufferOffset, toRead);
                                return backend.submit(
                                        Transfer.read(from, to).requireDirect()); // Read information from the file.
                            }); // Release the buffer, also where something failed.
                }); // Release the file.
        // sample
    }
}
