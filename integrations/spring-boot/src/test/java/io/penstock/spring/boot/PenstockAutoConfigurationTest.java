// SPDX-License-Identifier: Apache-2.0
package io.penstock.spring.boot;

import static org.assertj.core.api.Assertions.assertThat;

import io.micrometer.core.instrument.binder.MeterBinder;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.ClosedException;
import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.micrometer.TransferMeters;
import io.penstock.webflux.FileResource;
import io.penstock.webflux.HttpFiles;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.context.properties.source.InvalidConfigurationPropertyValueException;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.context.runner.ReactiveWebApplicationContextRunner;
import org.springframework.boot.test.context.runner.WebApplicationContextRunner;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.core.ResolvableType;
import org.springframework.core.env.MapPropertySource;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.core.io.support.SpringFactoriesLoader.FailureHandler;
import org.springframework.http.codec.ServerCodecConfigurer;
import org.springframework.web.reactive.config.WebFluxConfigurer;
import reactor.core.publisher.Mono;
import reactor.test.StepVerifier;

class PenstockAutoConfigurationTest {

    private static final AutoConfigurations OURS = AutoConfigurations.of(
            PenstockAutoConfiguration.class,
            FilesOverHttp.class,
            Meters.class,
            Boot3Health.class,
            Boot4Health.class,
            BackendInfo.class);

    private final ApplicationContextRunner application = new ApplicationContextRunner().withConfiguration(OURS);

    private static void isClosed(Backend backend) {
        StepVerifier.create(backend.allocate(1)).verifyError(ClosedException.class);
    }

    @Test
    void theContextOpensABackendAndClosesIt() {
        AtomicReference<Backend> opened = new AtomicReference<>();
        application.run(context -> {
            Backend backend = context.getBean(Backend.class);
            assertThat(backend.name()).isEqualTo("host");
            backend.withBuffer(1, buffer -> Mono.just(1)).block();
            opened.set(backend);
        });
        isClosed(opened.get());
    }

    @Test
    void aBackendOfTheApplicationIsUsedInstead() {
        try (Backend own = Backends.open("host")) {
            application
                    .withBean("own", Backend.class, () -> own)
                    .run(context -> assertThat(context).getBean(Backend.class).isSameAs(own));
        }
    }

    @Test
    void anApplicationWithSeveralBackendsStartsAndGetsNothingUnlessOneIsPrimary() {
        ReactiveWebApplicationContextRunner web = new ReactiveWebApplicationContextRunner().withConfiguration(OURS);
        try (Backend one = Backends.open("host");
                Backend two = Backends.open("host")) {
            var several = web.withBean("one", Backend.class, () -> one);
            several.withBean("two", Backend.class, () -> two)
                    .run(context -> assertThat(context)
                            .hasNotFailed()
                            .hasSingleBean(MeterBinder.class)
                            .doesNotHaveBean(HttpFiles.class)
                            .doesNotHaveBean("penstockHealthIndicator"));
            several.withBean("two", Backend.class, () -> two, definition -> definition.setPrimary(true))
                    .run(context -> {
                        assertThat(context).hasNotFailed().hasSingleBean(HttpFiles.class);
                        assertThat(context).hasBean("penstockHealthIndicator");
                    });
        }
    }

    private static Options options(AssertableApplicationContext context) {
        return EnvironmentOptions.of(context.getSourceApplicationContext().getEnvironment(), Backends.options());
    }

    @Test
    void propertiesAreOptionsHoweverTheyAreSpelled() {
        application
                .withPropertyValues("penstock.backend= HOST ", "penstock.closeTimeout=3s", "penstock.queue.bytes=1MiB")
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(options(context).get(CommonOptions.CLOSE_TIMEOUT))
                            .isEqualTo(Duration.ofSeconds(3));
                    assertThat(options(context).get(CommonOptions.QUEUE_BYTES)).isEqualTo(1 << 20);
                });
    }

    @Test
    void aBackendWithoutANameIsHostMemory() {
        application
                .withPropertyValues("penstock.backend= ")
                .run(context ->
                        assertThat(context.getBean(Backend.class).name()).isEqualTo("host"));
    }

    @Test
    void theEnvironmentWinsOverFilesAsElsewhereInBoot() {
        application
                .withInitializer(context -> {
                    var sources = context.getEnvironment().getPropertySources();
                    sources.replace(
                            "systemEnvironment",
                            new SystemEnvironmentPropertySource(
                                    "systemEnvironment", Map.of("PENSTOCK_CLOSE_TIMEOUT", "3s")));
                    sources.addLast(new MapPropertySource(
                            "file", Map.of("penstock.close-timeout", "4s", "penstock.queue.depth", 8)));
                })
                .run(context -> {
                    assertThat(context).hasNotFailed();
                    assertThat(options(context).get(CommonOptions.CLOSE_TIMEOUT))
                            .isEqualTo(Duration.ofSeconds(3));
                    assertThat(options(context).get(CommonOptions.QUEUE_DEPTH)).isEqualTo(8);
                });
    }

    @Test
    void aBackendThatCannotBeUsedIsReportedWithoutAStackTrace() {
        List<FailureAnalyzer> analyzers = SpringFactoriesLoader.forDefaultResourceLocation()
                .load(FailureAnalyzer.class, FailureHandler.handleMessage((message, refused) -> {}));
        application
                .withPropertyValues("penstock.backend=nonesuch")
                .run(context -> assertThat(analyzers)
                        .filteredOn(BackendFailureAnalyzer.class::isInstance)
                        .singleElement()
                        .extracting(analyzer -> analyzer.analyze(context.getStartupFailure()))
                        .satisfies(analysis -> {
                            assertThat(analysis.getDescription())
                                    .contains("there is no backend 'nonesuch'", "host: available");
                            assertThat(analysis.getAction()).contains("penstock.backend");
                        }));
    }

    @Test
    void whatCannotBeIsReportedByName() {
        application
                .withPropertyValues("penstock.queue.depth=0")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContainingAll("penstock.queue.depth", "1 to 4096"));
        application
                .withPropertyValues("penstock.queue.dept=1")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContaining("penstock.queue.dept"));
        application
                .withPropertyValues("penstock.backend=nonesuch")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContaining("there is no backend 'nonesuch'"));
        application
                .withPropertyValues("penstock.cufile.device=1")
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** Penstock reads system properties and environment, too, and has one spelling of each. */
    @Test
    void systemPropertiesAreSpelledAsSpringPermits() {
        application.withSystemProperties("penstock.closeTimeout=3s").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(options(context).get(CommonOptions.CLOSE_TIMEOUT)).isEqualTo(Duration.ofSeconds(3));
        });
    }

    @Test
    void whatPenstockReadsByItselfIsReportedByNameToo(@TempDir Path folder) throws IOException {
        application
                .withSystemProperties("penstock.queue.dept=1")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContaining("the system property sets penstock.queue.dept, which is not an option"));
        application
                .withPropertyValues("penstock.config=penstock.properties")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContainingAll("Property penstock.config with value", "cannot be read"));
        Path config = Files.writeString(folder.resolve("penstock.properties"), "penstock.queue.depth=0");
        application
                .withPropertyValues("penstock.config=" + config)
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .isInstanceOf(InvalidConfigurationPropertyValueException.class)
                        .hasMessageContainingAll("Property penstock.queue.depth", "1 to 4096", config.toString()));
    }

    @Test
    void filesOverHttpAreForWebApplications() {
        application.run(context -> assertThat(context).doesNotHaveBean(HttpFiles.class));
        ReactiveWebApplicationContextRunner web = new ReactiveWebApplicationContextRunner().withConfiguration(OURS);
        web.run(context -> {
            assertThat(context).hasSingleBean(HttpFiles.class);
            assertThat(writerOfFiles(context)).isEqualTo("FileResourceWriter");
        });
        web.withClassLoader(new FilteredClassLoader(HttpFiles.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("penstockHttpFiles"));
    }

    private static String writerOfFiles(ApplicationContext context) {
        ServerCodecConfigurer codecs = ServerCodecConfigurer.create();
        context.getBean(WebFluxConfigurer.class).configureHttpMessageCodecs(codecs);
        return codecs.getWriters().stream()
                .filter(writer -> writer.canWrite(ResolvableType.forClass(FileResource.class), null))
                .map(writer -> writer.getClass().getSimpleName())
                .findFirst()
                .orElse("none");
    }

    /** Each with another size of chunks, for example. */
    @Test
    void anApplicationMayHaveSeveralHttpFiles() {
        ReactiveWebApplicationContextRunner web = new ReactiveWebApplicationContextRunner()
                .withConfiguration(OURS)
                .withUserConfiguration(SeveralHttpFiles.class);
        web.run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(writerOfFiles(context)).isEqualTo("ResourceHttpMessageWriter");
        });
        web.withUserConfiguration(PrimaryHttpFiles.class)
                .run(context -> assertThat(writerOfFiles(context)).isEqualTo("FileResourceWriter"));
    }

    @Configuration(proxyBeanMethods = false)
    static class SeveralHttpFiles {

        @Bean
        HttpFiles small(Backend backend) {
            return new HttpFiles(backend).chunkBytes(4096);
        }

        @Bean
        HttpFiles large(Backend backend) {
            return new HttpFiles(backend);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryHttpFiles {

        @Bean
        @Primary
        HttpFiles main(Backend backend) {
            return new HttpFiles(backend).depth(3);
        }
    }

    @Test
    void filesOverHttpAreThereWithoutWebFlux() {
        new WebApplicationContextRunner()
                .withConfiguration(OURS)
                .withClassLoader(new FilteredClassLoader(WebFluxConfigurer.class))
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(HttpFiles.class);
                    assertThat(context).doesNotHaveBean("penstockFileCodec");
                });
    }

    @Test
    void infoTellsWhatMovesTheBytes() {
        application.run(context -> {
            var info = new org.springframework.boot.actuate.info.Info.Builder();
            context.getBean(InfoContributor.class).contribute(info);
            Backend backend = context.getBean(Backend.class);
            assertThat(info.build().getDetails())
                    .containsEntry(
                            "penstock",
                            Map.of(
                                    "backend",
                                    "host",
                                    "device",
                                    backend.capabilities().device(),
                                    "means",
                                    backend.means()));
        });
        application
                .withPropertyValues("management.info.penstock.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(InfoContributor.class));
        application
                .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate.info"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("penstockInfoContributor"));
    }

    @Test
    void healthIsThatOfTheDeviceOnBoot4() {
        application
                .withClassLoader(new FilteredClassLoader("org.springframework.boot.actuate.health"))
                .run(context -> {
                    var health =
                            context.getBean(org.springframework.boot.health.contributor.ReactiveHealthIndicator.class);
                    var up = health.health().block();
                    assertThat(up.getStatus().getCode()).isEqualTo("UP");
                    assertThat(up.getDetails()).containsEntry("backend", "host").containsKey("device");
                    context.getBean(Backend.class).close();
                    assertThat(health.health().block().getStatus().getCode()).isEqualTo("DOWN");
                });
    }

    @Test
    void healthIsThatOfTheDeviceOnBoot3() {
        application
                .withClassLoader(new FilteredClassLoader("org.springframework.boot.health"))
                .run(context -> {
                    var health = context.getBean(org.springframework.boot.actuate.health.ReactiveHealthIndicator.class);
                    var up = health.health().block();
                    assertThat(up.getStatus().getCode()).isEqualTo("UP");
                    assertThat(up.getDetails()).containsEntry("backend", "host").containsKey("device");
                    context.getBean(Backend.class).close();
                    assertThat(health.health().block().getStatus().getCode()).isEqualTo("DOWN");
                });
    }

    @Test
    void healthCanBeTurnedOffOrBeAbsent() {
        application
                .withPropertyValues("management.health.penstock.enabled=false")
                .run(context -> assertThat(context).doesNotHaveBean("penstockHealthIndicator"));
        application
                .withClassLoader(new FilteredClassLoader(
                        "org.springframework.boot.health", "org.springframework.boot.actuate.health"))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("penstockHealthIndicator"));
    }

    @Test
    void bootFindsEveryConfiguration() throws IOException {
        List<String> named = Files.readAllLines(Path.of("src/main/resources/META-INF/spring/"
                + "org.springframework.boot.autoconfigure.AutoConfiguration.imports"));
        assertThat(named)
                .containsExactly(
                        PenstockAutoConfiguration.class.getName(),
                        FilesOverHttp.class.getName(),
                        Meters.class.getName(),
                        Boot3Health.class.getName(),
                        Boot4Health.class.getName(),
                        BackendInfo.class.getName());
    }

    @Test
    void transfersAreMeteredWhereThereAreMeters(@TempDir Path folder) throws IOException {
        Path file = Files.write(folder.resolve("data"), new byte[1000]);
        SimpleMeterRegistry registry = new SimpleMeterRegistry();
        application.run(context -> {
            context.getBean(MeterBinder.class).bindTo(registry);
            context.getBean(Backend.class).read(file).blockLast();
            assertThat(registry.get("penstock.transfers.moved").counter().count())
                    .isEqualTo(1000);
        });
        assertThat(registry.find("penstock.transfers.active").gauge())
                .as("of a backend that is closed")
                .isNull();
        application
                .withClassLoader(new FilteredClassLoader(TransferMeters.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("penstockMeters"));
    }

    /** As where {@code spring.autoconfigure.exclude} names the configuration of the backend. */
    @Test
    void anApplicationWithoutABackendStarts() {
        new ReactiveWebApplicationContextRunner()
                .withConfiguration(
                        AutoConfigurations.of(FilesOverHttp.class, Meters.class, Boot3Health.class, Boot4Health.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean("penstockMeters"));
    }
}
