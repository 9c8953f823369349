// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.io.IOException;
import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.util.Logger;
import reactor.util.Loggers;

class OptionsTest {

    @TempDir
    Path folder;

    private static final Option<Integer> QUEUES =
            Option.integer("penstock.host.queues", 0, 0, 64, "how many I/O queues");
    private static final List<Option<?>> KNOWN =
            List.of(CommonOptions.QUEUE_DEPTH, CommonOptions.CLOSE_TIMEOUT, QUEUES);

    private static Options resolve(Options code, Map<String, String> properties, Map<String, String> environment) {
        Properties system = new Properties();
        system.putAll(properties);
        return code.resolve(KNOWN, system, environment);
    }

    private static Options properties(String name, String value) {
        return resolve(Options.none(), Map.of(name, value), Map.of());
    }

    private static Options environment(String variable, String value) {
        return resolve(Options.none(), Map.of(), Map.of(variable, value));
    }

    @Test
    void theDefaultIsUsedWithoutASetting() {
        Options options = resolve(Options.none(), Map.of(), Map.of("PATH", "/bin"));
        assertThat(options.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(256);
        assertThat(options.source(CommonOptions.QUEUE_DEPTH)).isEqualTo("default");
    }

    @Test
    void codeWinsOverPropertiesAndTheseOverTheEnvironment() {
        Map<String, String> environment = Map.of("PENSTOCK_QUEUE_DEPTH", "1");
        Map<String, String> properties = Map.of("penstock.queue.depth", "2");
        Options code = Options.none().with(CommonOptions.QUEUE_DEPTH, 3);
        Options byVariable = resolve(Options.none(), Map.of(), environment);
        Options byProperty = resolve(Options.none(), properties, environment);
        Options byCode = resolve(code, properties, environment);
        assertThat(byVariable.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(1);
        assertThat(byVariable.source(CommonOptions.QUEUE_DEPTH)).contains("PENSTOCK_QUEUE_DEPTH");
        assertThat(byProperty.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(2);
        assertThat(byProperty.source(CommonOptions.QUEUE_DEPTH)).contains("property");
        assertThat(byCode.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(3);
        assertThat(byCode.source(CommonOptions.QUEUE_DEPTH)).isEqualTo("code");
    }

    @Test
    void hyphensAreUnderscoresInTheEnvironment() {
        assertThat(environment("PENSTOCK_CLOSE_TIMEOUT", "3s").get(CommonOptions.CLOSE_TIMEOUT))
                .isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void anUnknownNameIsAnErrorThatNamesItAndItsSource() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.queue.dpeth", "1"))
                .withMessage("the system property sets penstock.queue.dpeth, which is not an option of Penstock");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> environment("PENSTOCK_QUEUE_DPETH", "1"))
                .withMessageContaining("the environment variable PENSTOCK_QUEUE_DPETH");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(Options.none().with("I/O queue.depth", "1"), Map.of(), Map.of()))
                .withMessage("code sets I/O queue.depth, which is not an option of Penstock");
    }

    /** As of Spring, which has read the value by then. */
    @Test
    void anotherSpellingOfWhatCodeSetsIsNoError() {
        Options code = Options.none().with(CommonOptions.CLOSE_TIMEOUT, Duration.ofSeconds(3));
        Map<String, String> properties = Map.of("penstock.closeTimeout", "4s");
        Map<String, String> environment = Map.of("PENSTOCK_CLOSETIMEOUT", "5s");
        assertThat(resolve(code, properties, environment).get(CommonOptions.CLOSE_TIMEOUT))
                .isEqualTo(Duration.ofSeconds(3));
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.closeTimeout", "4s"))
                .withMessage("the system property sets penstock.closeTimeout, which is not an option of Penstock");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(Options.none().with("penstock.closeTimeout", "4s"), Map.of(), Map.of()))
                .withMessage("code sets penstock.closeTimeout, which is not an option of Penstock");
    }

    @Test
    void anUnknownNameOfAModuleAtHandIsAnErrorToo() {
        assertThat(properties("penstock.host.queues", "2").get(QUEUES)).isEqualTo(2);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.host.lnaes", "2"))
                .withMessageContaining("penstock.host.lnaes");
        assertThatIllegalArgumentException().isThrownBy(() -> environment("PENSTOCK_HOST_LNAES", "2"));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "penstock.cufile.batch",
                "penstock.opencl.platform",
                "penstock.gl.device",
                "penstock.dx11.adapter",
                "penstock.staging.buffer-bytes",
                "penstock.memory.heap-bytes", // of a third party
            })
    void optionsOfAbsentModulesAreAcceptedFromEverywhere(String name) {
        String variable = name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
        Options code = Options.none().with(name, "whatever");
        assertThat(warnings(() -> {
                    Options options = resolve(code, Map.of(name, "whatever"), Map.of(variable, "whatever"));
                    assertThat(options.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(256);
                }))
                .isEmpty();
    }

    @Test
    void aNamespaceThatLooksMisspeltIsWarnedAboutOnce() {
        assertThat(warnings(() -> {
                    properties("penstock.hsot.queues", "2");
                    properties("penstock.hsot.queues", "2");
                    environment("PENSTOCK_QUEEU_DEPTH", "2");
                    resolve(Options.none().with("penstock.hots.queues", "2"), Map.of(), Map.of());
                }))
                .containsExactly(
                        "the system property sets penstock.hsot.queues, which is ignored: no module here has options that"
                                + " start with penstock.hsot; was penstock.host meant?",
                        "the environment variable PENSTOCK_QUEEU_DEPTH sets penstock.queeu.depth, which is ignored: no module"
                                + " here has options that start with penstock.queeu; was penstock.queue meant?",
                        "code sets penstock.hots.queues, which is ignored: no module here has options that start with"
                                + " penstock.hots; was penstock.host meant?");
    }

    /** Returns what {@link Options} warns of meanwhile. */
    private static List<String> warnings(Runnable body) {
        List<String> warnings = new ArrayList<>();
        Loggers.useCustomLoggers(name -> (Logger) Proxy.newProxyInstance(
                Logger.class.getClassLoader(), new Class<?>[] {Logger.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("warn")) {
                        String text = ((String) arguments[0]).replace("{}", "%s");
                        warnings.add(String.format(text, (Object[]) arguments[1]));
                    }
                    return null;
                }));
        try {
            body.run();
        } finally {
            Loggers.resetLoggerFactory();
        }
        return warnings;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "penstock.pioson", // no namespace, so no module's
                "penstock.queue.dpeth",
                "penstock.host.lnaes",
                "other.memory.heap-bytes",
                "penstock.host" // as a variable: no option of the module either
            })
    void misspeltOptionsOfModulesAtHandAreErrorsFromCode(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(Options.none().with(name, "1"), Map.of(), Map.of()))
                .withMessage("code sets " + name + ", which is not an option of Penstock");
    }

    /** Which underscores of a variable are hyphens is not known: close-timeout makes CLOSE a known namespace. */
    @ParameterizedTest
    @ValueSource(strings = {"PENSTOCK_CLOSE_TIMEUOT", "PENSTOCK_QUEUE_DPETH", "PENSTOCK_HOST_LNAES", "PENSTOCK_HOST"})
    void misspeltVariablesOfModulesAtHandAreErrors(String variable) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> environment(variable, "1"))
                .withMessageContaining(variable);
    }

    @Test
    void theBackendAndWhatTheBuildRequiresAreNoOptions() {
        Map<String, String> both = Map.of("PENSTOCK_BACKEND", "host", "PENSTOCK_REQUIRE", "host,io_uring");
        assertThat(resolve(Options.none(), Map.of("penstock.backend", "gpu"), both)
                        .get(CommonOptions.QUEUE_DEPTH))
                .isEqualTo(256);
    }

    @Test
    void everySourceWinsOverTheFileThatOneOfThemNames() throws IOException {
        String file =
                file("penstock.queue.depth = 5\npenstock.close-timeout=\\\n  3s\n# a remark\npenstock.mine.x = 1\n");
        Map<String, String> named = Map.of("penstock.config", file);
        Options options = resolve(Options.none(), named, Map.of());
        assertThat(options.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(5);
        assertThat(options.get(CommonOptions.CLOSE_TIMEOUT)).isEqualTo(Duration.ofSeconds(3));
        assertThat(options.source(CommonOptions.QUEUE_DEPTH)).isEqualTo("the file " + file);
        assertThat(resolve(Options.none().with("penstock.config", file), Map.of(), Map.of())
                        .get(CommonOptions.QUEUE_DEPTH))
                .isEqualTo(5);
        Map<String, String> environment = Map.of("PENSTOCK_CONFIG", file, "PENSTOCK_QUEUE_DEPTH", "6");
        Options variable = resolve(Options.none(), Map.of(), environment);
        assertThat(variable.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(6);
        assertThat(variable.get(CommonOptions.CLOSE_TIMEOUT)).isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void aFileThatCannotBeReadAndANameInItThatIsNoOptionAreErrors() throws IOException {
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        properties("penstock.config", folder.resolve("absent").toString()))
                .withMessageContainingAll("which penstock.config names", "absent");
        assertThatIllegalArgumentException()
                .isThrownBy(() ->
                        environment("PENSTOCK_CONFIG", folder.resolve("absent").toString()))
                .withMessageContainingAll("which PENSTOCK_CONFIG names", "absent");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.config", folder.toString())) // whose error names no file
                .withMessageContainingAll("penstock.config", folder.toString());
        String misspelt = file("penstock.queue.dept = 5");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.config", misspelt))
                .withMessage("the file " + misspelt + " sets penstock.queue.dept, which is not an option of Penstock");
        String foreign = file("server.port = 80");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.config", foreign))
                .withMessageContaining("server.port");
    }

    private String file(String text) throws IOException {
        return Files.writeString(folder.resolve("options.properties"), text).toString();
    }

    @Test
    void aBadValueIsAnErrorThatNamesOptionSourceAndRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> environment("PENSTOCK_QUEUE_DEPTH", "4097"))
                .withMessageContaining("the environment variable PENSTOCK_QUEUE_DEPTH")
                .withMessageContaining("penstock.queue.depth=4097")
                .withMessageContaining("1 to 4096");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.queue.depth", "many"))
                .withMessageStartingWith("the system property sets penstock.queue.depth=many");
        Options code = Options.none().with(CommonOptions.QUEUE_DEPTH, 0);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(code, Map.of(), Map.of()))
                .withMessageStartingWith("code sets penstock.queue.depth=0");
    }

    @Test
    void aBadValueIsAnErrorEvenWhereABetterSourceWins() {
        Options code = Options.none().with(CommonOptions.QUEUE_DEPTH, 3);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(code, Map.of(), Map.of("PENSTOCK_QUEUE_DEPTH", "many")));
    }

    @Test
    void optionsAreImmutable() {
        Options none = Options.none();
        Options one = none.with(CommonOptions.QUEUE_DEPTH, 1);
        assertThat(one.with(CommonOptions.QUEUE_DEPTH, 2).get(CommonOptions.QUEUE_DEPTH))
                .isEqualTo(2);
        assertThat(one.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(1);
        assertThat(none.get(CommonOptions.QUEUE_DEPTH)).isEqualTo(256);
    }

    @Test
    void optionsAreEqualWhereTheySetTheSameValuesFromWhateverSources() {
        Options code = resolve(Options.none().with(CommonOptions.QUEUE_DEPTH, 7), Map.of(), Map.of());
        assertThat(properties("penstock.queue.depth", "7")).isEqualTo(code).hasSameHashCodeAs(code);
        assertThat(properties("penstock.queue.depth", "8")).isNotEqualTo(code);
        assertThat(Options.none()).isNotEqualTo(code);
    }

    @Test
    void resolvedOptionsStayAsTheyAre() {
        Options resolved = properties("penstock.queue.depth", "7");
        assertThat(resolved.resolve(KNOWN)).isSameAs(resolved);
    }

    @Test
    void everyCommonOptionIsListed() throws IllegalAccessException {
        List<Object> constants = new ArrayList<>();
        for (Field field : CommonOptions.class.getFields()) {
            constants.add(field.get(null));
        }
        assertThat(constants).hasSameElementsAs(CommonOptions.all());
    }

    @Test
    void optionsTellWhatIsSetAndWhatOthersThanTheProgramHaveSet() {
        Options code = Options.none().with(CommonOptions.QUEUE_DEPTH, 3);
        assertThat(Options.none()).hasToString("{}");
        assertThat(code).hasToString("{penstock.queue.depth=3}");
        assertThat(resolve(code, Map.of(), Map.of("PENSTOCK_CLOSE_TIMEOUT", "1s")))
                .hasToString(
                        "{penstock.close-timeout=1s (the environment variable PENSTOCK_CLOSE_TIMEOUT), penstock.queue.depth=3}");
    }
}
