// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.kit.host;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.penstock.Availability;
import io.penstock.Backend;
import io.penstock.Options;
import io.penstock.engine.kit.ffi.Machine;
import io.penstock.engine.kit.ffi.NativeAccess;
import io.penstock.engine.kit.ffi.NativeMemory;
import io.penstock.engine.kit.ffi.VendorLibrary;
import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jctools.queues.MpscUnboundedArrayQueue;
import org.jctools.queues.varhandle.MpscVarHandleArrayQueue;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.reactivestreams.Publisher;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Flux;

/** Reasons and remedies of JVMs that do not let JNA call native code: {@code main} is such a JVM's. */
class NativeAccessTest {

    private static final String LOGGING = "add the module java.logging";
    private static final String ALLOW = "--enable-native-access=ALL-UNNAMED, or com.sun.jna";

    /** Prints what a probe answers, and the answer for a vendor's library. */
    public static void main(String[] args) {
        if (args[0].equals("late")) { // when JNA has failed before, the JVM tells another error
            NativeMemory.isAvailable();
        }
        Availability availability = HostPath.probe(Options.none());
        System.out.println(availability.reason());
        System.out.println(availability.remedy());
        System.out.println(new VendorLibrary(NativeAccessTest.class, "libnothing.so.1", List.of(), 0).load(""));
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name, false, NativeAccessTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new AssertionError(e);
        }
    }

    private static String place(Class<?> type) {
        return Path.of(URI.create(
                        type.getProtectionDomain().getCodeSource().getLocation().toString()))
                .toString();
    }

    private static String classPath() {
        return Stream.of(
                        NativeAccessTest.class,
                        HostPath.class,
                        Backend.class,
                        Flux.class,
                        Publisher.class,
                        LoggerFactory.class,
                        MpscUnboundedArrayQueue.class,
                        MpscVarHandleArrayQueue.class,
                        type("com.sun.jna.Native"))
                .map(NativeAccessTest::place)
                .distinct()
                .collect(Collectors.joining(File.pathSeparator));
    }

    private static List<String> said(String when, String... flags) throws IOException, InterruptedException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of(flags));
        command.addAll(List.of("-cp", classPath(), NativeAccessTest.class.getName(), when));
        Process child = new ProcessBuilder(command)
                .redirectError(ProcessBuilder.Redirect.DISCARD)
                .start();
        String out = new String(child.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertThat(child.waitFor()).as(out).isZero();
        return out.lines().toList();
    }

    @ParameterizedTest
    @ValueSource(strings = {"first", "late"})
    void aRuntimeWithoutJavaLoggingIsReported(String when) throws IOException, InterruptedException {
        assumeTrue(Machine.isSupported(), "this system has no io_uring to ask for");
        List<String> said = said(when, "--limit-modules=java.base");
        assertThat(said.get(0)).contains("java.util.logging").doesNotContain("Could not initialize");
        assertThat(said.get(1)).contains(LOGGING);
        assertThat(said.get(2)).contains("java.util.logging").contains(LOGGING);
    }

    @ParameterizedTest
    @ValueSource(strings = {"first", "late"})
    void deniedNativeAccessIsReported(String when) throws IOException, InterruptedException {
        assumeTrue(Machine.isSupported(), "this system has no io_uring to ask for");
        assumeTrue(Runtime.version().feature() >= 24, "this JVM denies no native access");
        List<String> said = said(when, "--illegal-native-access=deny");
        assertThat(said.get(0)).contains("IllegalCallerException").doesNotContain("Could not initialize");
        assertThat(said.get(1)).contains(ALLOW);
        assertThat(said.get(2)).contains("IllegalCallerException").contains(ALLOW);
    }

    @Test
    void theCauseIsTheRootAndSoIsWhatTheJvmQuotesOfIt() {
        IllegalCallerException denied = new IllegalCallerException("denied");
        NativeAccess first = NativeAccess.of(new ExceptionInInitializerError(denied));
        assertThat(first.cause()).isEqualTo("java.lang.IllegalCallerException: denied");
        assertThat(first.remedy()).contains(ALLOW);

        LinkageError absent = new NoClassDefFoundError("java/util/logging/Logger");
        assertThat(NativeAccess.of(absent).remedy()).contains(LOGGING);
        LinkageError later = new NoClassDefFoundError("Could not initialize class com.sun.jna.Native");
        later.initCause(new ExceptionInInitializerError(
                "Exception java.lang.IllegalCallerException: denied [in thread \"main\"]"));
        assertThat(NativeAccess.of(later)).isEqualTo(first);
    }

    @Test
    void anythingElseIsAMatterOfWhereJnaUnpacksItsLibrary() {
        NativeAccess access = NativeAccess.of(new UnsatisfiedLinkError("/tmp/jna.so: failed to map segment"));
        assertThat(access.cause()).endsWith("failed to map segment");
        assertThat(access.remedy()).contains("jna.tmpdir");
    }

    @Test
    void thisJvmCallsNativeCode() {
        assertThat(NativeAccess.refusal()).isNull();
    }
}
