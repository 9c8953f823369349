// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.Option;
import io.penstock.Options;
import io.penstock.engine.kit.file.HostFailure;
import io.penstock.remote.http.HttpOptions;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.GeneralSecurityException;
import java.security.KeyFactory;
import java.security.KeyStore;
import java.security.NoSuchAlgorithmException;
import java.security.PrivateKey;
import java.security.cert.Certificate;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;
import java.security.spec.InvalidKeySpecException;
import java.security.spec.PKCS8EncodedKeySpec;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.TrustManager;
import javax.net.ssl.TrustManagerFactory;
import javax.net.ssl.X509TrustManager;
import org.jspecify.annotations.Nullable;

/**
 * The authorities whose certificates are trusted, and the certificate of this client.
 *
 * @param store {@code jvm}, {@code system}, or a PEM file
 * @param identity a PEM file with a certificate and its key; empty for none
 */
public record Trust(String store, String identity) {

    private static final Map<Trust, SSLContext> CONTEXTS = new ConcurrentHashMap<>(); // read once, as the JVM's own

    private static final String JVM = "jvm";
    private static final String SYSTEM = "system";
    private static final List<String> SYSTEM_FILES = List.of(
            "/etc/ssl/certs/ca-certificates.crt",
            "/etc/pki/tls/certs/ca-bundle.crt",
            "/etc/ssl/ca-bundle.pem",
            "/etc/ssl/cert.pem");
    private static final Pattern BLOCK = Pattern.compile("-----BEGIN ([A-Z ]+)-----([^-]+)-----END \\1-----");
    private static final List<String> KEYS = List.of("RSA", "EC", "EdDSA");

    /** Returns what the options choose. */
    public static Trust of(Options options) {
        return new Trust(options.get(HttpOptions.TRUST), options.get(HttpOptions.CLIENT_CERTIFICATE));
    }

    /** Thrown if a file or store cannot be used, nor will it by the next attempt; the message names it. */
    static final class UnusableException extends IOException {

        private static final long serialVersionUID = 1L;

        private UnusableException(String message, Exception cause) {
            super(message, cause);
        }
    }

    private interface Use<T> {
        T made() throws IOException, GeneralSecurityException;
    }

    /** Returns what is made of a file, or of a store. */
    private static <T> T used(Option<String> option, String value, Use<T> use) throws UnusableException {
        try {
            return use.made();
        } catch (IOException | GeneralSecurityException | IllegalArgumentException e) { // the last of a path, or Base64
            throw new UnusableException(option.name() + "=" + value + " cannot be used: " + HostFailure.told(e), e);
        }
    }

    /** Returns the same trust without a certificate of this client. */
    Trust withoutIdentity() {
        return new Trust(store, "");
    }

    /**
     * Returns a context for TLS: the JVM's default, unless the options choose otherwise.
     *
     * @throws UnusableException if a file or store cannot be used
     */
    SSLContext context() throws IOException {
        try {
            if (store.equals(JVM) && identity.isEmpty()) {
                return SSLContext.getDefault();
            }
            SSLContext known = CONTEXTS.get(this);
            if (known != null) {
                return known;
            }
            SSLContext context = SSLContext.getInstance("TLS");
            KeyManagerFactory keys = KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
            keys.init(
                    identity.isEmpty() ? null : used(HttpOptions.CLIENT_CERTIFICATE, identity, this::identityStore),
                    new char[0]);
            context.init(
                    identity.isEmpty() ? null : keys.getKeyManagers(),
                    used(HttpOptions.TRUST, store, this::trusted),
                    null);
            CONTEXTS.put(this, context);
            return context;
        } catch (NoSuchAlgorithmException e) {
            Throwable cause = e.getCause() == null ? e : e.getCause(); // whose message does not name the store
            throw new UnusableException(
                    "there is no TLS in this process, javax.net.ssl.trustStore and keyStore must name readable stores: "
                            + cause,
                    e);
        } catch (GeneralSecurityException e) {
            throw new UnusableException(this + " and the client's certificate cannot be used: " + e, e);
        }
    }

    private TrustManager[] trusted() throws IOException, GeneralSecurityException {
        TrustManagerFactory trusted = TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
        trusted.init(store.equals(JVM) ? null : authorities());
        return trusted.getTrustManagers();
    }

    private KeyStore authorities() throws IOException, GeneralSecurityException {
        KeyStore found = KeyStore.getInstance(KeyStore.getDefaultType());
        found.load(null, null);
        for (Certificate authority : certificates(file(), "")) {
            found.setCertificateEntry(Integer.toString(found.size()), authority);
        }
        return found;
    }

    /** Returns the file of the store; null if it has none. */
    private @Nullable Path file() throws IOException {
        if (!store.equals(SYSTEM)) {
            return store.equals(JVM) ? null : Path.of(store);
        }
        String named = System.getenv("SSL_CERT_FILE");
        if (named != null && !named.isEmpty()) {
            return Path.of(named); // or no file: what was meant to be narrower is not widened
        }
        return SYSTEM_FILES.stream()
                .map(Path::of)
                .filter(Files::isReadable)
                .findFirst()
                .orElseThrow(() -> new IOException("the system's certificates are in none of " + SYSTEM_FILES
                        + "; penstock.http.trust must name their file"));
    }

    private static List<Certificate> certificates(@Nullable Path file, String other)
            throws IOException, GeneralSecurityException {
        List<Certificate> found = new ArrayList<>();
        CertificateFactory x509 = CertificateFactory.getInstance("X.509");
        for (String block : blocks(file, "CERTIFICATE")) {
            found.add(x509.generateCertificate(new ByteArrayInputStream(block.getBytes(StandardCharsets.US_ASCII))));
        }
        if (found.isEmpty()) {
            throw new IOException("a PEM file must have certificates" + other + ", " + file + " has none");
        }
        return found;
    }

    /** Returns the blocks of a PEM file whose title ends with {@code title}. */
    private static List<String> blocks(@Nullable Path file, String title) throws IOException {
        List<String> found = new ArrayList<>();
        Matcher block = BLOCK.matcher(Files.readString(Objects.requireNonNull(file), StandardCharsets.ISO_8859_1));
        while (block.find()) {
            if (block.group(1).endsWith(title)) {
                found.add(block.group());
            }
        }
        return found;
    }

    private KeyStore identityStore() throws IOException, GeneralSecurityException {
        Path file = Path.of(identity);
        KeyStore own = KeyStore.getInstance("PKCS12");
        own.load(null, null);
        own.setKeyEntry(
                "own", key(file), new char[0], certificates(file, " and a key").toArray(new Certificate[0]));
        return own;
    }

    private static PrivateKey key(Path file) throws IOException, GeneralSecurityException {
        String text = String.join("", blocks(file, "PRIVATE KEY"));
        Matcher block = BLOCK.matcher(text);
        if (block.find() && block.group(1).equals("PRIVATE KEY")) {
            PKCS8EncodedKeySpec spec =
                    new PKCS8EncodedKeySpec(Base64.getMimeDecoder().decode(block.group(2)));
            for (String algorithm : KEYS) {
                try {
                    return KeyFactory.getInstance(algorithm).generatePrivate(spec);
                } catch (InvalidKeySpecException e) {
                    // it is of the next algorithm
                }
            }
        }
        throw new IOException(
                file + " must have an unencrypted key in PKCS #8, which begins with -----BEGIN PRIVATE KEY-----");
    }

    /** Returns the authorities as PEM, for a library of its own; not empty. */
    public String authoritiesAsPem() throws IOException {
        return used(HttpOptions.TRUST, store, () -> {
            Path file = file();
            List<Certificate> found = file == null ? issuers() : certificates(file, "");
            if (found.isEmpty()) {
                throw new IOException(this + " has no certificates");
            }
            StringBuilder pem = new StringBuilder();
            for (Certificate authority : found) {
                pem.append("-----BEGIN CERTIFICATE-----\n")
                        .append(Base64.getMimeEncoder(64, new byte[] {'\n'}).encodeToString(authority.getEncoded()))
                        .append("\n-----END CERTIFICATE-----\n");
            }
            return pem.toString();
        });
    }

    private List<Certificate> issuers() throws IOException, GeneralSecurityException {
        return Stream.of(trusted())
                .filter(X509TrustManager.class::isInstance)
                .flatMap(manager -> Stream.<X509Certificate>of(((X509TrustManager) manager).getAcceptedIssuers()))
                .<Certificate>map(issuer -> issuer)
                .toList();
    }

    /** Returns the client's certificates, or its key, as PEM; empty if it has none. */
    public String identityAsPem(boolean key) throws IOException {
        return identity.isEmpty()
                ? ""
                : used(
                        HttpOptions.CLIENT_CERTIFICATE,
                        identity,
                        () -> String.join("\n", blocks(Path.of(identity), key ? "PRIVATE KEY" : "CERTIFICATE")));
    }

    /** Returns what messages call the store. */
    @Override
    public String toString() {
        return switch (store) {
            case JVM -> "the JVM's trust store";
            case SYSTEM -> "the system's trust store";
            default -> "the trust store " + store;
        };
    }
}
