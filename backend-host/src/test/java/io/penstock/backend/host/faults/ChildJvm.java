// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host.faults;

import com.sun.jna.Native;
import io.penstock.Backend;
import io.penstock.backend.host.HostProvider;
import io.penstock.engine.Engine;
import io.penstock.engine.testing.ClassPath;
import io.penstock.tck.Pattern;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import org.slf4j.simple.SimpleServiceProvider;
import reactor.core.publisher.Flux;

/** A program of the tests in a JVM of its own, which another program has started. */
final class ChildJvm {

    private ChildJvm() {}

    /** Runs {@link ReadAndTell} as below. */
    static String run(Path file, String... launcher) throws IOException {
        return run(ReadAndTell.class, file, launcher);
    }

    /**
     * Runs it on {@code file} by {@code launcher}, a command that executes the command behind it; returns its output.
     */
    static String run(Class<?> program, Path file, String... launcher) throws IOException {
        List<String> command = new ArrayList<>(List.of(launcher));
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC", "-Xshare:auto"));
        command.addAll(List.of("--enable-native-access=ALL-UNNAMED", "-cp", classPath()));
        command.add("-Dorg.slf4j.simpleLogger.logFile=System.out");
        command.add(program.getName());
        command.add(file.toString());
        return Tool.run(command);
    }

    private static String classPath() {
        return ClassPath.of(
                ReadAndTell.class,
                HostProvider.class,
                Engine.class,
                Backend.class,
                Pattern.class,
                Flux.class,
                Publisher.class,
                Native.class,
                LoggerFactory.class,
                SimpleServiceProvider.class,
                MpscUnboundedArrayQueue.class,
                MpscVarHandleArrayQueue.class);
    }
}
