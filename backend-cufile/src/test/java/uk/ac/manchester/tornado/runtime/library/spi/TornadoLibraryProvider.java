// SPDX-License-Identifier: Apache-2.0
package uk.ac.manchester.tornado.runtime.library.spi;

import uk.ac.manchester.tornado.runtime.common.TornadoXPUDevice;

/**
 * As TornadoVM 7.0.1 declares it, for a recipe to be compiled and called: its artifacts are not to be had by this
 * build.
 */
public interface TornadoLibraryProvider {

    String libraryName();

    boolean canHandle(TornadoXPUDevice device);

    LibraryContext createContext(TornadoXPUDevice device, long executionPlanId);

    void dispatch(String functionName, LibraryInvocation invocation);

    void destroyContext(LibraryContext context);
}
