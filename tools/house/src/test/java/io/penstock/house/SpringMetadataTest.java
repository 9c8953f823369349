// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.Option;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Holds what editors show of {@code penstock.*} in a Spring application against the code, from which {@code
 * -Dapi.write=true} writes it.
 */
class SpringMetadataTest {

    private static final Path FILE = Path.of(System.getProperty("basedir", ""))
            .toAbsolutePath()
            .resolve("../../integrations/spring-boot/src/main/resources/META-INF/spring-configuration-metadata.json");

    private static String line(String name, String type, String fallback, String description) {
        return "    {\"name\": \"" + name + "\", \"type\": \"" + type + "\", \"defaultValue\": " + fallback
                + ", \"description\": \"" + description.replace("\"", "\\\"") + ".\"}";
    }

    private static String line(Option<?> option) {
        Object value = option.fallback();
        String shown = Option.show(value);
        String range = option.description() + " (" + option.range() + ")";
        if (value instanceof Integer || value instanceof Boolean) {
            return line(option.name(), value.getClass().getName(), shown, range);
        }
        // The library parses lengths of time and numbers of bytes, as 250ms and 8MiB.
        String type = value instanceof Duration ? Duration.class.getName() : String.class.getName();
        return line(option.name(), type, '"' + shown + '"', range);
    }

    private static String hint(Option<?> option) {
        String values = option.range()
                .lines()
                .flatMap(all -> List.of(all.split(", ")).stream())
                .map(value -> "{\"value\": \"" + value + "\"}")
                .collect(Collectors.joining(", "));
        return "    {\"name\": \"" + option.name() + "\", \"values\": [" + values + "]}";
    }

    private static String metadata() throws IllegalAccessException {
        List<Option<?>> options = new ArrayList<>();
        OptionsPageTest.declared().values().forEach(options::addAll);
        options.sort(Comparator.comparing(Option::name));
        List<String> properties = new ArrayList<>();
        properties.add(
                line(
                        "penstock.backend",
                        String.class.getName(),
                        "\"host\"",
                        "The backend to open: host, cufile, hip, opencl-ssg, gl, dx11, nvme, another by its name, or gpu for the best one"));
        properties.add(line(
                "penstock.config",
                String.class.getName(),
                "\"\"",
                "A properties file of options, which all other sources take precedence over"));
        properties.add(line(
                "management.health.penstock.enabled",
                Boolean.class.getName(),
                "true",
                "Whether the health of the backend's device is reported"));
        properties.add(line(
                "management.info.penstock.enabled",
                Boolean.class.getName(),
                "true",
                "Whether the info of the application has the backend and what moves its bytes"));
        options.forEach(option -> properties.add(line(option)));
        List<String> hints = options.stream()
                .filter(option -> option.fallback() instanceof Enum<?>)
                .map(SpringMetadataTest::hint)
                .toList();
        return "{\n  \"properties\": [\n" + String.join(",\n", properties) + "\n  ],\n  \"hints\": [\n"
                + String.join(",\n", hints) + "\n  ]\n}\n";
    }

    @Test
    void editorsShowEveryOptionAsItIs() throws IOException, IllegalAccessException {
        if (Boolean.getBoolean("api.write")) {
            Files.writeString(FILE, metadata());
        }
        assertThat(Files.readString(FILE))
                .as("%s: -Dapi.write=true writes it", FILE)
                .isEqualTo(metadata());
    }
}
