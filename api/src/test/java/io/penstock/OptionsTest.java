// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;

import java.lang.reflect.Field;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import reactor.util.Logger;
import reactor.util.Loggers;

class OptionsTest {

    private static final Option<Integer> LANES = Option.integer("penstock.host.lanes", 0, 0, 64, "how many lanes");
    private static final List<Option<?>> KNOWN = List.of(CommonOptions.LANE_DEPTH, CommonOptions.CLOSE_TIMEOUT, LANES);

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
    void whereNothingIsSaidTheDefaultHolds() {
        Options options = resolve(Options.none(), Map.of(), Map.of("PATH", "/bin"));
        assertThat(options.get(CommonOptions.LANE_DEPTH)).isEqualTo(256);
        assertThat(options.source(CommonOptions.LANE_DEPTH)).isEqualTo("default");
    }

    @Test
    void codeWinsOverPropertiesAndTheseOverTheEnvironment() {
        Map<String, String> environment = Map.of("PENSTOCK_LANE_DEPTH", "1");
        Map<String, String> properties = Map.of("penstock.lane.depth", "2");
        Options code = Options.none().with(CommonOptions.LANE_DEPTH, 3);
        Options byVariable = resolve(Options.none(), Map.of(), environment);
        Options byProperty = resolve(Options.none(), properties, environment);
        Options byCode = resolve(code, properties, environment);
        assertThat(byVariable.get(CommonOptions.LANE_DEPTH)).isEqualTo(1);
        assertThat(byVariable.source(CommonOptions.LANE_DEPTH)).contains("PENSTOCK_LANE_DEPTH");
        assertThat(byProperty.get(CommonOptions.LANE_DEPTH)).isEqualTo(2);
        assertThat(byProperty.source(CommonOptions.LANE_DEPTH)).contains("property");
        assertThat(byCode.get(CommonOptions.LANE_DEPTH)).isEqualTo(3);
        assertThat(byCode.source(CommonOptions.LANE_DEPTH)).isEqualTo("code");
    }

    @Test
    void hyphensAreUnderscoresInTheEnvironment() {
        assertThat(environment("PENSTOCK_CLOSE_TIMEOUT", "3s").get(CommonOptions.CLOSE_TIMEOUT))
                .isEqualTo(Duration.ofSeconds(3));
    }

    @Test
    void anUnknownNameIsAnErrorThatNamesItAndItsSource() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.lane.dpeth", "1"))
                .withMessage("the system property sets penstock.lane.dpeth, which is no option of Penstock");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> environment("PENSTOCK_LANE_DPETH", "1"))
                .withMessageContaining("the environment variable PENSTOCK_LANE_DPETH");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(Options.none().with("lane.depth", "1"), Map.of(), Map.of()))
                .withMessage("code sets lane.depth, which is no option of Penstock");
    }

    @Test
    void anUnknownNameOfAModuleAtHandIsAnErrorToo() {
        assertThat(properties("penstock.host.lanes", "2").get(LANES)).isEqualTo(2);
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
                "penstock.staging.slot-bytes",
                "penstock.memory.heap-bytes", // of a third party
            })
    void optionsOfAbsentModulesAreAcceptedFromEverywhere(String name) {
        String variable = name.toUpperCase(Locale.ROOT).replace('.', '_').replace('-', '_');
        Options code = Options.none().with(name, "whatever");
        assertThat(warnings(() -> {
                    Options options = resolve(code, Map.of(name, "whatever"), Map.of(variable, "whatever"));
                    assertThat(options.get(CommonOptions.LANE_DEPTH)).isEqualTo(256);
                }))
                .isEmpty();
    }

    @Test
    void aNamespaceThatLooksMisspeltIsWarnedAboutOnce() {
        assertThat(warnings(() -> {
                    properties("penstock.hsot.lanes", "2");
                    properties("penstock.hsot.lanes", "2");
                    environment("PENSTOCK_LNAE_DEPTH", "2");
                    resolve(Options.none().with("penstock.hots.lanes", "2"), Map.of(), Map.of());
                }))
                .containsExactly(
                        "the system property sets penstock.hsot.lanes, which is ignored: no module here has options that"
                                + " start with penstock.hsot; was penstock.host meant?",
                        "the environment variable PENSTOCK_LNAE_DEPTH sets penstock.lnae.depth, which is ignored: no module"
                                + " here has options that start with penstock.lnae; was penstock.lane meant?",
                        "code sets penstock.hots.lanes, which is ignored: no module here has options that start with"
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
                "penstock.lane.dpeth",
                "penstock.host.lnaes",
                "other.memory.heap-bytes",
                "penstock.host" // as a variable: no option of the module either
            })
    void misspeltOptionsOfModulesAtHandAreErrorsFromCode(String name) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(Options.none().with(name, "1"), Map.of(), Map.of()))
                .withMessage("code sets " + name + ", which is no option of Penstock");
    }

    /** Which underscores of a variable are hyphens is not known: close-timeout makes CLOSE a word of ours. */
    @ParameterizedTest
    @ValueSource(strings = {"PENSTOCK_CLOSE_TIMEUOT", "PENSTOCK_LANE_DPETH", "PENSTOCK_HOST_LNAES", "PENSTOCK_HOST"})
    void misspeltVariablesOfModulesAtHandAreErrors(String variable) {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> environment(variable, "1"))
                .withMessageContaining(variable);
    }

    @Test
    void theBackendAndWhatTheBuildRequiresAreNoOptions() {
        Map<String, String> both = Map.of("PENSTOCK_BACKEND", "host", "PENSTOCK_REQUIRE", "host,io_uring");
        assertThat(resolve(Options.none(), Map.of("penstock.backend", "gpu"), both)
                        .get(CommonOptions.LANE_DEPTH))
                .isEqualTo(256);
    }

    @Test
    void aBadValueIsAnErrorThatNamesOptionSourceAndRange() {
        assertThatIllegalArgumentException()
                .isThrownBy(() -> environment("PENSTOCK_LANE_DEPTH", "4097"))
                .withMessageContaining("the environment variable PENSTOCK_LANE_DEPTH")
                .withMessageContaining("penstock.lane.depth=4097")
                .withMessageContaining("1 to 4096");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> properties("penstock.lane.depth", "many"))
                .withMessageStartingWith("the system property says penstock.lane.depth=many");
        Options code = Options.none().with(CommonOptions.LANE_DEPTH, 0);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(code, Map.of(), Map.of()))
                .withMessageStartingWith("code says penstock.lane.depth=0");
    }

    @Test
    void aBadValueIsAnErrorEvenWhereABetterSourceWins() {
        Options code = Options.none().with(CommonOptions.LANE_DEPTH, 3);
        assertThatIllegalArgumentException()
                .isThrownBy(() -> resolve(code, Map.of(), Map.of("PENSTOCK_LANE_DEPTH", "many")));
    }

    @Test
    void optionsAreImmutable() {
        Options none = Options.none();
        Options one = none.with(CommonOptions.LANE_DEPTH, 1);
        assertThat(one.with(CommonOptions.LANE_DEPTH, 2).get(CommonOptions.LANE_DEPTH))
                .isEqualTo(2);
        assertThat(one.get(CommonOptions.LANE_DEPTH)).isEqualTo(1);
        assertThat(none.get(CommonOptions.LANE_DEPTH)).isEqualTo(256);
    }

    @Test
    void resolvedOptionsStayAsTheyAre() {
        Options resolved = properties("penstock.lane.depth", "7");
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
}
