// SPDX-License-Identifier: Apache-2.0
package uk.ac.manchester.tornado.api.common;

/**
 * As TornadoVM 7.0.1 declares it, for a recipe to be compiled and called: its artifacts are not to be had by this
 * build.
 */
public class LibraryTaskDescriptor {

    private String libraryName;
    private String functionName;
    private Object[] parameters;
    private Access[] access;
    private Object tuning;

    public LibraryTaskDescriptor withLibrary(String name) {
        libraryName = name;
        return this;
    }

    public LibraryTaskDescriptor withFunction(String name) {
        functionName = name;
        return this;
    }

    public LibraryTaskDescriptor withParameters(Object[] of) {
        parameters = of;
        return this;
    }

    public LibraryTaskDescriptor withAccess(Access[] of) {
        access = of;
        return this;
    }

    public LibraryTaskDescriptor withTuning(Object options) {
        tuning = options;
        return this;
    }

    public String getLibraryName() {
        return libraryName;
    }

    public String getFunctionName() {
        return functionName;
    }

    public Object[] getParameters() {
        return parameters;
    }

    public Access[] getAccess() {
        return access;
    }

    public Object getTuning() {
        return tuning;
    }
}
