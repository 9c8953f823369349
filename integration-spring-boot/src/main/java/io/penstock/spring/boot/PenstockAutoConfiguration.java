// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.penstock.Backend;
import io.penstock.micrometer.TransferMeters;
import io.penstock.webflux.HttpFiles;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;

/**
 * A {@link Backend} from the properties {@code penstock.*}, unless the application has one, {@link HttpFiles} where
 * {@code penstock-integration-webflux} is present, and meters where {@code penstock-integration-micrometer} is.
 *
 * <p>The context closes the backend, after the web server has stopped: beans are destroyed when every
 * {@link org.springframework.context.Lifecycle} has been stopped, those that drain requests included.
 */
@AutoConfiguration
public class PenstockAutoConfiguration {

    /** Opens the backend that {@code penstock.backend} names, with the options that the environment sets. */
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    Backend penstockBackend(ConfigurableEnvironment environment) {
        return EnvironmentOptions.open(environment);
    }

    /** Where files are sent and received over HTTP. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(HttpFiles.class)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class Web {

        @Bean
        @ConditionalOnMissingBean
        HttpFiles penstockHttpFiles(Backend backend) {
            return new HttpFiles(backend);
        }
    }

    /** Meters of transfers, which Boot binds to each of the application's registries. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass({TransferMeters.class, MeterBinder.class})
    static class Metrics {

        @Bean
        @ConditionalOnMissingBean(name = "penstockMeters")
        MeterBinder penstockMeters(Backend backend) {
            return registry -> TransferMeters.bind(backend, registry);
        }
    }
}
