// SPDX-License-Identifier: Apache-2.0

import java.net.URL;
import java.net.URLClassLoader;
import java.util.Arrays;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Loads the plug-ins of javac once for all modules of a build, by its option {@code -XDprocloader}. Without it each of
 * some 60 compilations loads Error Prone's classes anew, and the JVM compiles them anew: a third of the processor time
 * of a build without tests.
 */
public final class SharedLoader extends ClassLoader {

    private static final Map<String, ClassLoader> LOADERS = new ConcurrentHashMap<>();

    /** What javac calls. */
    public SharedLoader(URL[] path, ClassLoader parent) {
        super(LOADERS.computeIfAbsent(Arrays.toString(path), any -> new URLClassLoader(path, parent)));
    }
}
