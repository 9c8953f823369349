// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.Backend;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * A {@link Backend} from the properties {@code penstock.*}, unless the application has one. Its health, and {@link
 * io.penstock.webflux.HttpFiles} where {@code penstock-integration-webflux} is present, need one backend, or a primary
 * one among several. {@code penstock-integration-micrometer} counts the transfers of all.
 *
 * <p>The context closes the backend, after the web server has stopped: beans are destroyed when every
 * {@link org.springframework.context.Lifecycle} has been stopped, including lifecycles that drain requests.
 */
@AutoConfiguration
public class PenstockAutoConfiguration {

    /** Opens the backend that {@code penstock.backend} names, with the options that the environment sets. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    Backend penstockBackend(ConfigurableEnvironment environment) {
        return EnvironmentOptions.open(environment);
    }
}
