// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Completion;
import io.penstock.DeviceBuffer;
import io.penstock.FileOption;
import io.penstock.Options;
import io.penstock.Transfer;
import java.nio.file.Path;
import uk.ac.manchester.tornado.api.common.Access;
import uk.ac.manchester.tornado.api.common.LibraryTaskDescriptor;
import uk.ac.manchester.tornado.runtime.common.TornadoXPUDevice;
import uk.ac.manchester.tornado.runtime.library.spi.LibraryContext;
import uk.ac.manchester.tornado.runtime.library.spi.LibraryInvocation;
import uk.ac.manchester.tornado.runtime.library.spi.TornadoLibraryProvider;
import uk.ac.manchester.tornado.runtime.library.spi.TornadoNativeStreamSupport;

/** A recipe of docs/hand-over.md: library tasks of TornadoVM that fill its arrays from files. */
public final class TornadoReads implements TornadoLibraryProvider {

    /** Bytes of a file, for an array of TornadoVM's. */
    public record Part(Path file, long offset, long bytes) {}

    private record Open(Backend backend, CudaStream stream) implements LibraryContext {}

    /**
     * The task: {@code graph.libraryTask("weights", TornadoReads::read, array, new TornadoReads.Part(file, 0, bytes))}.
     */
    public static LibraryTaskDescriptor read(Object array, Part part) {
        return new LibraryTaskDescriptor()
                .withLibrary("penstock")
                .withFunction("read")
                .withParameters(new Object[] {array})
                .withAccess(new Access[] {Access.WRITE_ONLY})
                .withTuning(part);
    }

    @Override
    public String libraryName() {
        return "penstock";
    }

    @Override
    public boolean canHandle(TornadoXPUDevice device) {
        return device instanceof TornadoNativeStreamSupport; // by CUDA
    }

    @Override
    public LibraryContext createContext(TornadoXPUDevice device, long executionPlanId) {
        TornadoNativeStreamSupport cuda = (TornadoNativeStreamSupport) device;
        String context = Long.toString(cuda.getNativeContext(executionPlanId));
        Backend backend = Backends.open("cufile", Options.none().with(CufileOptions.CONTEXT, context));
        try {
            return new Open(backend, CudaStream.of(cuda.getNativeStream(executionPlanId)));
        } catch (RuntimeException e) {
            backend.close();
            throw e;
        }
    }

    /** Reads into the array, behind the work that is in the stream of the execution plan and before what comes next. */
    @Override
    public void dispatch(String functionName, LibraryInvocation invocation) {
        if (invocation.isCapturing()) {
            throw new UnsupportedOperationException("a CUDA graph cannot read files");
        }
        Open open = (Open) invocation.getContext();
        Part part = (Part) invocation.getTuning();
        try (DeviceBuffer array = open.backend().wrap(invocation.getDevicePointer(0), part.bytes())) {
            Completion read = open.backend()
                    .withFile(
                            part.file(),
                            FileOption.READ,
                            file -> open.backend()
                                    .submit(Transfer.read(file.region(part.offset(), part.bytes()), array.all())
                                            .on(open.stream())))
                    .toFuture()
                    .join(); // also if the thread is interrupted: the array is TornadoVM's again
            if (read.bytes() < part.bytes()) {
                throw new IllegalStateException(part + " has only " + read.bytes() + " bytes");
            }
        }
    }

    @Override
    public void destroyContext(LibraryContext context) {
        ((Open) context).backend().close();
    }
}
