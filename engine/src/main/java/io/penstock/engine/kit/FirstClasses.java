// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The classes of a first transfer, loaded and initialized while a driver starts. A GPU's driver takes a tenth of a
 * second and more, in which the thread that opens the backend waits; the classes take about as long.
 *
 * <p>The resources {@value #NAMES} of our modules name the classes, one in a line, in the order in which they are
 * used. Classes of libraries are loaded only: their users initialize them.
 */
public final class FirstClasses {

    /** The resource that names the classes of a module, and of the libraries that it uses. */
    public static final String NAMES = "META-INF/penstock/first-classes";

    private static final Logger LOG = LoggerFactory.getLogger(FirstClasses.class);
    private static final DaemonThread THREAD = new DaemonThread("penstock-classes", FirstClasses::loadAll);
    private static boolean started; // by this class's lock

    private FirstClasses() {}

    /**
     * Starts to load them on a thread of its own, once in a process. To be called right before a call of a driver that
     * takes long, and {@link #await} before the caller goes on, so that not both threads initialize classes.
     */
    public static synchronized void load() {
        if (!started) {
            started = true;
            THREAD.tryStart();
        }
    }

    /** Waits until they are loaded, if that was started. */
    public static void await() {
        THREAD.awaitEnd();
    }

    private static void loadAll() {
        ClassLoader loader = FirstClasses.class.getClassLoader();
        try {
            for (URL names : Collections.list(loader.getResources(NAMES))) {
                try (BufferedReader lines =
                        new BufferedReader(new InputStreamReader(names.openStream(), StandardCharsets.UTF_8))) {
                    for (String name = lines.readLine(); name != null; name = lines.readLine()) {
                        load(name, loader);
                    }
                }
            }
        } catch (IOException e) {
            LOG.debug("the classes of a first transfer are loaded when they are used", e);
        }
    }

    /** A class that cannot be loaded is reported to the code that uses it, if any code does. */
    private static void load(String name, ClassLoader loader) {
        try {
            Class.forName(name, name.startsWith("io.penstock."), loader);
        } catch (ClassNotFoundException | LinkageError e) {
            LOG.debug("{} is not loaded ahead", name, e);
        }
    }
}
