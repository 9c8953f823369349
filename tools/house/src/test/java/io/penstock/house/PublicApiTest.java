// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClass;
import java.io.IOException;
import java.io.InputStream;
import java.lang.module.ModuleDescriptor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.Member;
import java.lang.reflect.Modifier;
import java.lang.reflect.Type;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/**
 * Holds what each released module exports to everybody against what is written down, so that no change of it goes
 * unnoticed: a file for each module in {@code src/test/api}. A change that is meant is written there by
 * {@code -Dapi.write=true}, and is part of the commit.
 */
class PublicApiTest {

    private static final Path FOLDER =
            Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolve("src/test/api");

    private static final Set<String> WITHOUT_A_DESCRIPTOR =
            Set.of("io.penstock.cudf", "io.penstock.integration.spark", "io.penstock.spring.boot");

    /** Returns the packages that each module exports to all others. */
    private static Map<String, Set<String>> exported() throws IOException {
        Map<String, Set<String>> packages = new TreeMap<>();
        for (URL url : Collections.list(PublicApiTest.class.getClassLoader().getResources("module-info.class"))) {
            try (InputStream bytes = url.openStream()) {
                ModuleDescriptor module = ModuleDescriptor.read(bytes);
                if (module.name().startsWith("io.penstock.")) {
                    packages.put(
                            module.name(),
                            module.exports().stream()
                                    .filter(exports -> !exports.isQualified())
                                    .map(ModuleDescriptor.Exports::source)
                                    .collect(Collectors.toSet()));
                }
            }
        }
        return packages;
    }

    private static boolean isPromised(int modifiers) {
        return Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers);
    }

    private static boolean isPromised(Class<?> type) {
        for (Class<?> outer = type; outer != null; outer = outer.getDeclaringClass()) {
            if (!isPromised(outer.getModifiers())) {
                return false;
            }
        }
        return !type.isAnonymousClass() && !type.isSynthetic();
    }

    private static <M extends Member> Stream<String> lines(M[] members, Function<M, String> line) {
        return Arrays.stream(members)
                .filter(member -> isPromised(member.getModifiers()) && !member.isSynthetic())
                .map(member -> "    " + line.apply(member));
    }

    /** As {@link Class#toGenericString}, whose text is not the same on every JDK. */
    private static String heading(Class<?> type) {
        String kind = type.isAnnotation()
                ? "@interface"
                : type.isInterface() ? "interface" : type.isEnum() ? "enum" : type.isRecord() ? "record" : "class";
        String parameters = Arrays.stream(type.getTypeParameters())
                .map(parameter -> parameter + " extends "
                        + Arrays.stream(parameter.getBounds())
                                .map(Type::getTypeName)
                                .collect(Collectors.joining(" & ")))
                .collect(Collectors.joining(", "));
        return Modifier.toString(type.getModifiers() & ~Modifier.INTERFACE) + (type.isSealed() ? " sealed " : " ")
                + kind + " " + type.getName() + (parameters.isEmpty() ? "" : "<" + parameters + ">");
    }

    private static String describe(Class<?> type) {
        StringBuilder text = new StringBuilder(heading(type));
        if (type.getGenericSuperclass() != null && type.getSuperclass() != Object.class) {
            text.append(" extends ").append(type.getGenericSuperclass().getTypeName());
        }
        if (type.getInterfaces().length > 0) {
            text.append(type.isInterface() ? " extends " : " implements ")
                    .append(Arrays.stream(type.getGenericInterfaces())
                            .map(Type::getTypeName)
                            .collect(Collectors.joining(", ")));
        }
        if (type.isSealed()) {
            text.append(" permits ")
                    .append(Arrays.stream(type.getPermittedSubclasses())
                            .map(Class::getName)
                            .sorted()
                            .collect(Collectors.joining(", ")));
        }
        Set<String> members = new TreeSet<>();
        lines(type.getDeclaredFields(), Field::toGenericString).forEach(members::add);
        lines(type.getDeclaredConstructors(), Executable::toGenericString).forEach(members::add);
        lines(type.getDeclaredMethods(), Executable::toGenericString).forEach(members::add);
        members.forEach(member -> text.append('\n').append(member));
        return text.append('\n').toString();
    }

    private static String api(Set<String> packages) {
        return HouseRulesTest.OURS.stream()
                .filter(type -> packages.contains(type.getPackageName()))
                .map(JavaClass::reflect)
                .filter(PublicApiTest::isPromised)
                .sorted((a, b) -> a.getName().compareTo(b.getName()))
                .map(PublicApiTest::describe)
                .collect(Collectors.joining("\n"));
    }

    @Test
    void theApiIsWhatIsWrittenDown() throws IOException {
        Set<String> written = new TreeSet<>();
        for (Map.Entry<String, Set<String>> module : exported().entrySet()) {
            String api = api(module.getValue());
            if (api.isEmpty()) {
                continue;
            }
            Path file = FOLDER.resolve(module.getKey() + ".txt");
            if (Boolean.getBoolean("api.write")) {
                Files.createDirectories(FOLDER);
                Files.writeString(file, api);
            }
            assertThat(file)
                    .as("if the change is meant: -Dapi.write=true")
                    .exists()
                    .hasContent(api);
            written.add(file.getFileName().toString());
        }
        try (Stream<Path> files = Files.list(FOLDER)) {
            assertThat(files.map(file -> file.getFileName().toString())).containsExactlyInAnyOrderElementsOf(written);
        }
    }

    /** {@code -Dapi.baseline} compares these packages with the packages of a release. */
    @Test
    void thePackagesThatAreComparedWithAReleaseAreThoseThatModulesExport() throws IOException {
        Set<String> exported =
                exported().values().stream().flatMap(Set::stream).collect(Collectors.toCollection(TreeSet::new));
        exported.addAll(WITHOUT_A_DESCRIPTOR);
        String pom = Files.readString(FOLDER.resolve("../../../../../pom.xml"));
        String profile = pom.substring(pom.indexOf("<id>compatible</id>"));
        assertThat(Pattern.compile("<include>(.*)</include>")
                        .matcher(profile.substring(0, profile.indexOf("</profile>")))
                        .results()
                        .map(match -> match.group(1)))
                .containsExactlyElementsOf(exported);
    }
}
