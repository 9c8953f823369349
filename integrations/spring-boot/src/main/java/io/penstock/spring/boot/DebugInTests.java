// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import java.util.List;
import java.util.Map;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.env.MapPropertySource;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;

/** Sets {@code penstock.debug} in the contexts of Spring's tests, unless they set it. */
final class DebugInTests implements ContextCustomizerFactory {

    /** A property of its own, since one of Spring takes precedence over the file that {@code penstock.config} names. */
    static final String PROPERTY = "penstock-in-tests.debug";

    /** A record, since contexts with equal customizers are shared by tests. */
    private record Debug() implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration test) {
            context.getEnvironment()
                    .getPropertySources()
                    .addLast(new MapPropertySource("penstock in tests", Map.of(PROPERTY, "true")));
        }
    }

    @Override
    public ContextCustomizer createContextCustomizer(Class<?> test, List<ContextConfigurationAttributes> attributes) {
        return new Debug();
    }
}
