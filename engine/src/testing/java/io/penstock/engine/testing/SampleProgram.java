// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.InvocationHandler;
import java.lang.reflect.Method;
import java.lang.reflect.Proxy;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** A program of {@code samples/programs}, for tests on a fake of a driver: its module is built after the backends. */
public final class SampleProgram {

    private final Class<?> program;

    private SampleProgram(Class<?> program) {
        this.program = program;
    }

    /**
     * Compiles a program.
     *
     * @param folder for its classes
     * @param named classes of the backend that it names, and of what that extends
     */
    public static SampleProgram of(String name, Path folder, Class<?>... named)
            throws IOException, ReflectiveOperationException {
        Path source = CompiledFakes.module("samples/programs/src/main/java/io/penstock/samples")
                .resolve(name + ".java");
        Path classes = Files.createDirectories(folder.resolve("classes"));
        StringWriter said = new StringWriter();
        Stream<Class<?>> always = Stream.of(Backend.class, Flux.class, Publisher.class, NullMarked.class);
        String path = ClassPath.of(Stream.concat(always, Stream.of(named)).toArray(Class<?>[]::new));
        var compiler = ToolProvider.getSystemJavaCompiler();
        try (var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            List<String> options = List.of("-cp", path, "-d", classes.toString());
            assertThat(compiler.getTask(said, files, null, options, null, files.getJavaFileObjects(source))
                            .call())
                    .as(said.toString())
                    .isTrue();
        }
        URL[] here = {classes.toUri().toURL()};
        return new SampleProgram(new URLClassLoader(here, SampleProgram.class.getClassLoader())
                .loadClass("io.penstock.samples." + name));
    }

    /** Calls a method of the program. */
    public Object call(String name, Object... arguments) throws ReflectiveOperationException {
        Method method = Stream.of(program.getDeclaredMethods())
                .filter(one -> one.getName().equals(name) && one.getParameterCount() == arguments.length)
                .findFirst()
                .orElseThrow();
        method.setAccessible(true);
        return method.invoke(null, arguments);
    }

    /** Returns an implementation of an interface in the program. */
    public Object implementing(String name, InvocationHandler calls) throws ReflectiveOperationException {
        ClassLoader loader = program.getClassLoader();
        Class<?>[] type = {loader.loadClass(program.getName() + '$' + name)};
        return Proxy.newProxyInstance(loader, type, calls);
    }
}
