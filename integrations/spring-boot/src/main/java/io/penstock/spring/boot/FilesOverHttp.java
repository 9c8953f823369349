// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import io.penstock.Backend;
import io.penstock.webflux.HttpFiles;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.ConditionalOnWebApplication;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;

/** Where files are sent and received over HTTP. */
@AutoConfiguration(after = PenstockAutoConfiguration.class)
@ConditionalOnClass(HttpFiles.class)
@ConditionalOnSingleCandidate(Backend.class)
@ConditionalOnWebApplication
class FilesOverHttp {

    @Bean
    @ConditionalOnMissingBean
    HttpFiles penstockHttpFiles(Backend backend) {
        return new HttpFiles(backend);
    }

    /** The codec by which handlers of WebFlux return files, if there is one HttpFiles, or a primary one. */
    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(WebFluxConfigurer.class)
    @ConditionalOnWebApplication(type = ConditionalOnWebApplication.Type.REACTIVE)
    static class Codec {

        @Bean
        WebFluxConfigurer penstockFileCodec(ObjectProvider<HttpFiles> files) {
            return new WebFluxConfigurer() {
                @Override
                public void configureHttpMessageCodecs(ServerCodecConfigurer codecs) {
                    // Not a condition, which Spring would evaluate before it knows the HttpFiles of the outer class.
                    files.ifUnique(one -> codecs.customCodecs().register(one.writer()));
                }
            };
        }
    }
}
