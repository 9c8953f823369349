// SPDX-License-Identifier: Apache-2.0
package io.penstock.readme;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Backend;
import io.penstock.formats.Loader;
import java.io.StringWriter;
import java.io.Writer;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import javax.tools.JavaCompiler;
import javax.tools.ToolProvider;
import org.jspecify.annotations.NullMarked;
import org.reactivestreams.Publisher;
import reactor.core.publisher.Flux;

/** Makes a class of a block that stands in README.md: imports, a few names, and the block as it is. */
final class CompiledSample {

    private static final String FRAME = """
            import static io.penstock.FileOption.*;

            import io.penstock.*;
            import io.penstock.formats.*;
            import io.penstock.readme.*;
            import java.nio.file.Path;
            import reactor.core.publisher.*;

            public final class ReadmeSample implements Sample {
                static final long MIB = 1 << 20;

                @Override
                public void run(Path path, Renderer renderer) throws Exception {
            %s
                }
            }
            """;

    private CompiledSample() {}

    static Sample of(String block, Path directory) throws Exception {
        Path source = Files.writeString(directory.resolve("ReadmeSample.java"), FRAME.formatted(block));
        String path = Stream.of(
                        Backend.class, Loader.class, Sample.class, Flux.class, Publisher.class, NullMarked.class)
                .map(CompiledSample::origin)
                .collect(Collectors.joining(System.getProperty("path.separator")));
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        Writer said = new StringWriter();
        List<String> options =
                List.of("-Xlint:all,-path,-classfile,-processing", "-cp", path, "-d", directory.toString());
        try (var files = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            boolean good = compiler.getTask(said, files, null, options, null, files.getJavaFileObjects(source.toFile()))
                    .call();
            assertThat(good).as("README.md does not compile: %s", said).isTrue();
            assertThat(said.toString()).as("warnings").isEmpty();
        }
        URL[] classes = {directory.toUri().toURL()};
        try (URLClassLoader loader = new URLClassLoader(classes, Sample.class.getClassLoader())) {
            return (Sample)
                    loader.loadClass("ReadmeSample").getDeclaredConstructor().newInstance();
        }
    }

    private static String origin(Class<?> type) {
        return Path.of(URI.create(
                        type.getProtectionDomain().getCodeSource().getLocation().toString()))
                .toString();
    }
}
