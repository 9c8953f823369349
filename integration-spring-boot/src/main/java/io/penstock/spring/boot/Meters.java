// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.penstock.Backend;
import io.penstock.micrometer.TransferMeters;
import java.util.List;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;

/** Meters of the transfers of all backends, which Boot binds to each of the application's registries. */
@AutoConfiguration(after = PenstockAutoConfiguration.class)
@ConditionalOnClass({TransferMeters.class, MeterBinder.class})
class Meters {

    @Bean
    @ConditionalOnMissingBean(name = "penstockMeters")
    MeterBinder penstockMeters(List<Backend> backends) {
        return registry -> backends.forEach(backend -> TransferMeters.bind(backend, registry));
    }
}
