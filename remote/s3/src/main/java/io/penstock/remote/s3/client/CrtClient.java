// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import io.penstock.CommonOptions;
import io.penstock.Options;
import io.penstock.engine.kit.DaemonThread;
import io.penstock.remote.http.client.HttpProxy;
import io.penstock.remote.http.client.Trust;
import io.penstock.remote.s3.S3Options;
import java.io.IOException;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import software.amazon.awssdk.crt.http.HttpMonitoringOptions;
import software.amazon.awssdk.crt.http.HttpProxyEnvironmentVariableSetting;
import software.amazon.awssdk.crt.http.HttpProxyOptions;
import software.amazon.awssdk.crt.io.ClientBootstrap;
import software.amazon.awssdk.crt.io.EventLoopGroup;
import software.amazon.awssdk.crt.io.ExponentialBackoffRetryOptions;
import software.amazon.awssdk.crt.io.HostResolver;
import software.amazon.awssdk.crt.io.StandardRetryOptions;
import software.amazon.awssdk.crt.io.TlsContext;
import software.amazon.awssdk.crt.io.TlsContextOptions;
import software.amazon.awssdk.crt.s3.S3Client;
import software.amazon.awssdk.crt.s3.S3ClientOptions;
import software.amazon.awssdk.crt.s3.S3MetaRequest;
import software.amazon.awssdk.crt.s3.S3MetaRequestOptions;

/** The S3 client of the AWS Common Runtime, by which objects are written. Thread-safe. */
final class CrtClient implements AutoCloseable {

    private static final long KEEP_SECONDS = 10;
    private static final long FEWEST_SECONDS = 2; // without a byte; the client's least
    private static final int SPARE_DESCRIPTORS = 16;
    private static final long MOST_RETRIES = 60; // the client's limit is 63

    /**
     * The key of a client.
     *
     * @param endpoint empty for AWS
     * @param proxy null for none
     */
    record Settings(
            String endpoint,
            String region,
            S3Options.Addressing addressing,
            S3Options.Credentials credentials,
            int connections,
            int attempts,
            long timeoutMillis,
            Trust trust,
            @Nullable HttpProxy proxy) {

        static Settings of(Options options) {
            return new Settings(
                    first(options.get(S3Options.ENDPOINT), "AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", ""),
                    region(options),
                    options.get(S3Options.ADDRESSING),
                    options.get(S3Options.CREDENTIALS),
                    options.get(CommonOptions.REMOTE_CONNECTIONS),
                    options.get(CommonOptions.REMOTE_ATTEMPTS),
                    options.get(CommonOptions.REMOTE_TIMEOUT).toMillis(),
                    Trust.of(options),
                    null);
        }

        /** Returns how many threads its connections have. */
        int threads() {
            return Math.min(connections, Runtime.getRuntime().availableProcessors());
        }

        /** Returns more descriptors than a new client has: two for each event loop, and it has loops of its own. */
        int descriptors() {
            return 2 * (threads() + 2 * Runtime.getRuntime().availableProcessors()) + SPARE_DESCRIPTORS;
        }

        private static String region(Options options) {
            String named = first(options.get(S3Options.REGION), "AWS_REGION", "AWS_DEFAULT_REGION", "");
            String region =
                    named.isEmpty() ? Profile.region(System.getenv(), System.getProperty("user.home", "")) : named;
            return region.isEmpty() ? "us-east-1" : region;
        }

        private static String first(String option, String variable, String other, String fallback) {
            return Stream.of(option, variable(variable), variable(other))
                    .filter(text -> !text.isEmpty())
                    .findFirst()
                    .orElse(fallback);
        }

        /** Returns a variable; an empty text if it is not set. */
        private static String variable(String name) {
            return System.getenv().getOrDefault(name, "");
        }

        Settings in(String other) {
            return new Settings(
                    endpoint, other, addressing, credentials, connections, attempts, timeoutMillis, trust, proxy);
        }

        /** Returns settings with the bucket in the host's name. */
        Settings hosted() {
            return new Settings(
                    endpoint,
                    region,
                    S3Options.Addressing.VIRTUAL,
                    credentials,
                    connections,
                    attempts,
                    timeoutMillis,
                    trust,
                    proxy);
        }

        Settings by(@Nullable HttpProxy other) {
            return new Settings(
                    endpoint, region, addressing, credentials, connections, attempts, timeoutMillis, trust, other);
        }
    }

    private final S3Client client;
    private final ThreadPoolExecutor computing; // as many threads as the connections have

    /**
     * Creates a client.
     *
     * @param signer null to sign nothing; open for as long as this is
     */
    CrtClient(Settings settings, @Nullable Signer signer) throws IOException {
        try (TlsContextOptions tls = tls(settings.trust);
                TlsContext context = new TlsContext(tls);
                EventLoopGroup threads = new EventLoopGroup(settings.threads());
                HostResolver hosts = new HostResolver(threads);
                ClientBootstrap bootstrap = new ClientBootstrap(threads, hosts)) {
            S3ClientOptions options = new S3ClientOptions()
                    .withRegion(settings.region)
                    .withClientBootstrap(bootstrap)
                    .withTlsContext(context)
                    .withMaxConnections(settings.connections)
                    .withConnectTimeoutMs((int) Math.min(Integer.MAX_VALUE, Math.max(1, settings.timeoutMillis)))
                    .withHttpMonitoringOptions(silence(settings.timeoutMillis))
                    .withProxyEnvironmentVariableSetting(ownProxy())
                    .withStandardRetryOptions(new StandardRetryOptions()
                            .withBackoffRetryOptions(new ExponentialBackoffRetryOptions()
                                    .withEventLoopGroup(threads)
                                    .withBackoffScaleFactorMS(100)
                                    .withMaxRetries(Math.min(MOST_RETRIES, Math.max(1, settings.attempts - 1)))));
            if (settings.proxy != null) {
                options.withProxyOptions(proxy(settings.proxy, settings.endpoint.startsWith("http:")));
            }
            client = new S3Client(signer == null ? options : options.withSigningConfig(signer.config()));
        }
        AtomicInteger number = new AtomicInteger();
        computing = new ThreadPoolExecutor(
                settings.threads(),
                settings.threads(),
                KEEP_SECONDS,
                TimeUnit.SECONDS,
                new LinkedBlockingQueue<>(),
                body -> new DaemonThread("penstock-s3-" + number.getAndIncrement(), body));
        computing.allowCoreThreadTimeOut(true);
    }

    /** Trusts as reads do, unless nothing is trusted: the client begins with its own store, also without TLS. */
    private static TlsContextOptions tls(Trust trust) throws IOException {
        String authorities = trust.authoritiesAsPem(); // before there is native memory
        String identity = trust.identityAsPem(false);
        TlsContextOptions tls = identity.isEmpty()
                ? TlsContextOptions.createDefaultClient()
                : TlsContextOptions.createWithMtls(identity, trust.identityAsPem(true));
        return tls.withCertificateAuthority(authorities);
    }

    /** Disables the client's own choice of a proxy, which may differ from the choice for reads. */
    private static HttpProxyEnvironmentVariableSetting ownProxy() {
        HttpProxyEnvironmentVariableSetting setting = new HttpProxyEnvironmentVariableSetting();
        setting.setEnvironmentVariableType(
                HttpProxyEnvironmentVariableSetting.HttpProxyEnvironmentVariableType.DISABLED);
        return setting;
    }

    private static HttpProxyOptions proxy(HttpProxy proxy, boolean forwards) {
        HttpProxyOptions options = new HttpProxyOptions();
        options.setHost(proxy.host());
        options.setPort(proxy.port());
        options.setConnectionType(
                forwards
                        ? HttpProxyOptions.HttpProxyConnectionType.Forwarding
                        : HttpProxyOptions.HttpProxyConnectionType.Tunneling);
        if (!proxy.user().isEmpty()) {
            options.setAuthorizationType(HttpProxyOptions.HttpProxyAuthorizationType.Basic);
            options.setAuthorizationUsername(proxy.user());
            options.setAuthorizationPassword(proxy.password());
        }
        return options;
    }

    /** A connection that carries less than a byte for each millisecond for so long has failed, as for reads. */
    private static HttpMonitoringOptions silence(long timeoutMillis) {
        HttpMonitoringOptions monitoring = new HttpMonitoringOptions();
        monitoring.setMinThroughputBytesPerSecond(1000);
        long seconds = TimeUnit.MILLISECONDS.toSeconds(timeoutMillis + 999);
        monitoring.setAllowableThroughputFailureIntervalSeconds(
                (int) Math.min(Integer.MAX_VALUE, Math.max(FEWEST_SECONDS, seconds)));
        return monitoring;
    }

    /**
     * Computes what may take long, such as checksums, on a thread that nothing else waits for.
     *
     * @param refused called if there is none
     */
    void compute(Runnable task, Consumer<Throwable> refused) {
        try {
            computing.execute(task);
        } catch (RuntimeException | OutOfMemoryError e) {
            refused.accept(e);
        }
    }

    /** Starts a request. */
    S3MetaRequest start(S3MetaRequestOptions request) {
        return client.makeMetaRequest(request);
    }

    /** Closes the client, when no request runs. */
    @Override
    public void close() {
        computing.shutdown();
        client.close();
    }
}
