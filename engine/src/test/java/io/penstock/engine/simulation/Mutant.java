// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.simulation;

import static java.io.File.pathSeparator;
import static java.util.stream.Collectors.joining;
import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import io.penstock.Backend;
import io.penstock.engine.Engine;
import java.io.IOException;
import java.io.StringWriter;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jctools.queues.MessagePassingQueue;
import org.jctools.queues.varhandle.MpscUnboundedVarHandleArrayQueue;
import org.jspecify.annotations.Nullable;
import org.reactivestreams.Publisher;
import org.slf4j.Logger;
import reactor.core.publisher.Flux;

/**
 * The engine with one behaviour broken: its own source, edited, compiled, and loaded together with a simulation of its
 * own, so that production code has no hooks.
 *
 * @param name what is broken
 * @param edits to the source; each must find its text
 * @param from the seed to begin with: where a rare one was found the last time, so that the search is short
 */
record Mutant(String name, List<Edit> edits, long from) {
    private static final String ENGINE = "io.penstock.engine.";
    private static final String NATIVE = ENGINE + "ffi."; // registers native functions: one of it is enough

    /** A text of a class of the engine's, whichever package it is in, and what to put in its place. */
    record Edit(String type, String text, String replacement) {}

    static Mutant of(String name, Edit... edits) {
        return new Mutant(name, List.of(edits), 0);
    }

    Mutant from(long seed) {
        return new Mutant(name, edits, seed);
    }

    /** Returns a class loader in which the engine is broken. */
    URLClassLoader load(Path scratch) throws IOException {
        Path sources = Path.of("src/main/java");
        if (!Files.isDirectory(sources)) {
            sources = Path.of("engine").resolve(sources);
        }
        Map<String, String> edited = new LinkedHashMap<>();
        for (Edit edit : edits) {
            String file = file(sources, edit.type);
            String before = edited.getOrDefault(file, Files.readString(sources.resolve(file)));
            assertThat(before)
                    .as("the source of %s has changed: change the mutant", edit.type)
                    .contains(edit.text);
            edited.put(file, before.replace(edit.text, edit.replacement));
        }
        Path classes = Files.createDirectories(scratch.resolve("classes"));
        if (!edited.isEmpty()) {
            compile(edited, scratch.resolve("sources"), classes);
        }
        return new ChildFirst(List.of(classes.toUri().toURL(), home(Engine.class), home(Mutant.class)));
    }

    /** Returns the path of the source of a class, relative to {@code sources}. */
    private static String file(Path sources, String type) throws IOException {
        try (Stream<Path> files = Files.walk(sources)) {
            return files.filter(file -> file.endsWith(type + ".java"))
                    .map(file -> sources.relativize(file).toString())
                    .findFirst()
                    .orElseThrow(() -> new AssertionError("there is no class " + type));
        }
    }

    private static URL home(Class<?> type) {
        return type.getProtectionDomain().getCodeSource().getLocation();
    }

    /** Returns where what the engine is made of comes from, by any class loader. */
    private static String classPath() {
        Class<?>[] all = {
            Engine.class,
            Backend.class,
            Flux.class,
            Publisher.class,
            Nullable.class,
            Logger.class,
            Native.class,
            MessagePassingQueue.class,
            MpscUnboundedVarHandleArrayQueue.class
        };
        return Stream.of(all)
                .map(type -> Path.of(URI.create(home(type).toString())).toString())
                .distinct()
                .collect(joining(pathSeparator));
    }

    private static void compile(Map<String, String> sources, Path directory, Path classes) throws IOException {
        List<Path> files = new ArrayList<>();
        for (Map.Entry<String, String> source : sources.entrySet()) {
            Path file = directory.resolve(source.getKey());
            Files.createDirectories(file.getParent());
            files.add(Files.writeString(file, source.getValue()));
        }
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        var manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8);
        StringWriter messages = new StringWriter();
        List<String> options = List.of("-d", classes.toString(), "-cp", classPath(), "-proc:none", "-nowarn");
        boolean compiled = compiler.getTask(
                        messages, manager, null, options, null, manager.getJavaFileObjectsFromPaths(files))
                .call();
        assertThat(compiled).as(messages.toString()).isTrue();
    }

    @Override
    public String toString() {
        return name;
    }

    /** Has an engine and a simulation of its own, and the rest in common with everybody. */
    private static final class ChildFirst extends URLClassLoader {

        ChildFirst(List<URL> urls) {
            super(urls.toArray(new URL[0]), Mutant.class.getClassLoader());
        }

        @Override
        protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
            if (!name.startsWith(ENGINE) || name.startsWith(NATIVE)) {
                return super.loadClass(name, resolve);
            }
            synchronized (getClassLoadingLock(name)) {
                Class<?> loaded = findLoadedClass(name);
                return loaded == null ? findClass(name) : loaded;
            }
        }
    }
}
