// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import static org.assertj.core.api.Assertions.assertThat;

import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.lang.ArchRule;
import io.penstock.BadApi;
import io.penstock.backend.BadPath;
import io.penstock.engine.BadEngine;
import io.penstock.engine.spi.BadSpi;
import io.penstock.formats.BadReader;
import io.penstock.house.bad.BadCycle;
import io.penstock.house.bad.BadHelper;
import io.penstock.onnxruntime.BadAdapter;
import java.lang.reflect.Field;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** A rule that no class can break proves nothing. */
class RulesCanFailTest {

    static Stream<Arguments> offences() throws ClassNotFoundException {
        // Ours cannot even be compiled against Unsafe without a warning, which is an error.
        Class<?> unsafe = Class.forName("org.jctools.util.UnsafeAccess");
        return Stream.of(
                Arguments.of(HouseRulesTest.JNA_APPEARS_IN_PACKAGES_NAMED_FFI_ONLY, BadHelper.class),
                Arguments.of(HouseRulesTest.NO_JNA_STRUCTURES, BadHelper.class),
                Arguments.of(HouseRulesTest.API_KNOWS_NOTHING_NATIVE_AND_NOTHING_BELOW, BadApi.class),
                Arguments.of(HouseRulesTest.ENGINE_KNOWS_NO_BACKEND, BadEngine.class),
                Arguments.of(HouseRulesTest.FORMATS_KNOW_THE_API_ONLY, BadReader.class),
                Arguments.of(HouseRulesTest.ADAPTERS_KNOW_THE_API_ONLY, BadAdapter.class),
                Arguments.of(HouseRulesTest.SPI_SHOWS_NOTHING_NATIVE, BadSpi.class),
                Arguments.of(HouseRulesTest.BACKENDS_KNOW_THE_SPI_ONLY, BadPath.class),
                Arguments.of(HouseRulesTest.PACKAGES_ARE_FREE_OF_CYCLES, BadEngine.class),
                Arguments.of(HouseRulesTest.TYPES_IN_LAYERS_ARE_FREE_OF_CYCLES, BadCycle.class),
                Arguments.of(HouseRulesTest.STAGING_PATHS_NEED_NO_HOST, BadPath.class),
                Arguments.of(HouseRulesTest.ONLY_THE_COMMAND_USES_LOGBACK_AND_PICOCLI, BadHelper.class),
                Arguments.of(HouseRulesTest.TYPES_SAY_WHAT_THEY_ARE_IN_THE_DOMAIN, BadHelper.class),
                Arguments.of(HouseRulesTest.TYPES_SAY_WHAT_THEY_ARE_IN_THE_DOMAIN, BadHelper.IName.class),
                Arguments.of(HouseRulesTest.NOTHING_PRINTS_BUT_PROGRAMS, BadHelper.class),
                Arguments.of(HouseRulesTest.NO_THREADS_BY_A_FACTORY_OF_THE_MOMENT, BadHelper.class),
                Arguments.of(HouseRulesTest.NO_UNSAFE, unsafe));
    }

    @ParameterizedTest
    @MethodSource("offences")
    void everyRuleFindsItsOffender(ArchRule rule, Class<?> offender) {
        Class<?>[] offenders = offender == BadEngine.class // a cycle needs two
                ? new Class<?>[] {BadEngine.class, BadApi.class}
                : offender == BadCycle.class
                        ? new Class<?>[] {BadCycle.class, BadHelper.class}
                        : new Class<?>[] {offender};
        JavaClasses classes = new ClassFileImporter().importClasses(offenders);
        assertThat(rule.evaluate(classes).hasViolation())
                .as("%s found in %s", rule.getDescription(), offender)
                .isTrue();
    }

    @Test
    void noRuleIsLeftOut() throws ReflectiveOperationException {
        List<Object> rules = new ArrayList<>();
        for (Field field : HouseRulesTest.class.getDeclaredFields()) {
            if (field.getType() == ArchRule.class) {
                rules.add(field.get(null));
            }
        }
        assertThat(offences().map(offence -> offence.get()[0]).distinct()).hasSameElementsAs(rules);
    }

    @Test
    void aPublicTypeMoreInTheApiIsCounted() {
        assertThat(HouseRulesTest.apiTypes(new ClassFileImporter().importClasses(BadApi.class, BadEngine.class)))
                .containsExactly("BadApi");
    }
}
