// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.http.client;

import io.penstock.engine.kit.file.HostFailure;
import io.penstock.engine.kit.remote.HostAndPort;
import java.io.IOException;
import java.net.URI;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The headers by which requests show who sends them. They are sent to the origin for which they were looked up, and to
 * no other, where a redirection may lead. Immutable; has no text.
 */
final class Credentials {

    static final Credentials NONE = new Credentials(new Origin(false, "", 0), Map.of(), "");

    private static final Pattern LINE = Pattern.compile("(\\S+)\\s+([!#$%&'*+.^_`|~0-9A-Za-z-]+):\\s*([\\t -~]+)");
    private static final Pattern WORD = Pattern.compile("(?m)^\\s*#.*$|\"((?:\\\\.|[^\"\\\\])*)\"|(\\S+)");
    private static final String AUTHORIZATION = "Authorization";

    private final Origin origin;
    private final Map<String, String> headers;
    private final String source;

    private Credentials(Origin origin, Map<String, String> headers, String source) {
        this.origin = origin;
        this.headers = headers;
        this.source = source;
    }

    /**
     * Looks up the credentials for a URI: its own user and password, else the lines of its host in the file of headers,
     * else {@code HF_TOKEN} for the hub, else {@code .netrc}.
     *
     * @param file of {@code HOST NAME: VALUE} lines; empty for none
     * @throws IOException if that file cannot be read
     */
    static Credentials of(URI uri, String file, Map<String, String> environment, Path home) throws IOException {
        Origin origin = Origin.of(uri);
        Map<String, String> found = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        if (!file.isEmpty()) {
            found.putAll(lines(file, origin));
        }
        String source = found.isEmpty() ? "" : "penstock.http.headers";
        String authority = String.valueOf(uri.getRawAuthority());
        if (authority.contains("@")) {
            String user = authority.substring(0, authority.lastIndexOf('@')).replace("+", "%2B");
            String login = URLDecoder.decode(user, StandardCharsets.UTF_8);
            found.put(AUTHORIZATION, basic(login.contains(":") ? login : login + ":"));
            source = "the URL";
        }
        String token = environment.getOrDefault("HF_TOKEN", "").strip();
        if (!found.containsKey(AUTHORIZATION)
                && !token.isEmpty()
                && origin.equals(Origin.of(URI.create(hub(environment))))) {
            found.put(AUTHORIZATION, "Bearer " + token);
            source = "HF_TOKEN";
        }
        Path netrc =
                Path.of(environment.getOrDefault("NETRC", home.resolve(".netrc").toString()));
        if (!found.containsKey(AUTHORIZATION) && Files.isRegularFile(netrc) && Files.isReadable(netrc)) {
            String login = login(Files.readString(netrc, StandardCharsets.ISO_8859_1), origin.host());
            if (!login.isEmpty()) {
                found.put(AUTHORIZATION, basic(login));
                source = netrc.toString();
            }
        }
        return new Credentials(origin, found, source);
    }

    /** Returns the URL of Hugging Face's hub, without a slash at its end. */
    static String hub(Map<String, String> environment) {
        String named = environment.getOrDefault("HF_ENDPOINT", "").strip();
        return named.isEmpty() ? "https://huggingface.co" : named.replaceFirst("/+$", "");
    }

    private static String basic(String login) {
        return "Basic " + Base64.getEncoder().encodeToString(login.getBytes(StandardCharsets.UTF_8));
    }

    private static Map<String, String> lines(String file, Origin origin) throws IOException {
        Map<String, String> found = new TreeMap<>();
        List<String> lines;
        try {
            lines = Files.readAllLines(Path.of(file), StandardCharsets.ISO_8859_1);
        } catch (IOException | InvalidPathException e) { // of this file, not of the one that is opened
            throw new IOException("penstock.http.headers=" + file + " cannot be read: " + HostFailure.told(e), e);
        }
        for (int i = 0; i < lines.size(); i++) {
            Matcher line = LINE.matcher(lines.get(i).strip());
            if (line.matches() && isOf(line.group(1), origin)) {
                found.put(line.group(2), line.group(3));
            } else if (!line.matches()
                    && !lines.get(i).isBlank()
                    && !lines.get(i).startsWith("#")) {
                throw new IOException("line " + (i + 1) + " of " + file + ", which penstock.http.headers names, must be"
                        + " HOST NAME: VALUE"); // the line may be a secret
            }
        }
        return found;
    }

    private static boolean isOf(String host, Origin origin) {
        HostAndPort named = HostAndPort.of(URI.create("x://" + host));
        return named != null
                && named.host().equalsIgnoreCase(origin.host())
                && (named.port() < 0 ? origin.secure() && origin.isDefaultPort() : named.port() == origin.port());
    }

    /** Returns user and password of a machine in a .netrc, with a colon between them; empty if it has none. */
    private static String login(String text, String host) {
        List<String> words = new ArrayList<>();
        Matcher word = WORD.matcher(text.replaceAll("(?m)^\\s*macdef(?s:.*?)(\\R\\s*\\R|\\z)", ""));
        while (word.find()) {
            if (word.group(1) != null) {
                words.add(word.group(1).replaceAll("\\\\(.)", "$1"));
            } else if (word.group(2) != null) {
                words.add(word.group(2));
            }
        }
        int start = 0;
        while (start + 1 < words.size()
                && !(words.get(start).equals("machine")
                        && words.get(start + 1).toLowerCase(Locale.ROOT).equals(host.toLowerCase(Locale.ROOT)))) {
            start++;
        }
        String user = "";
        String password = "";
        for (int i = start + 2; i + 1 < words.size() && !words.get(i).matches("machine|default"); i += 2) {
            user = words.get(i).equals("login") ? words.get(i + 1) : user;
            password = words.get(i).equals("password") ? words.get(i + 1) : password;
        }
        return user.isEmpty() && password.isEmpty() ? "" : user + ":" + password;
    }

    /** Returns the headers of a request to this URI; none if it is of another origin. */
    Map<String, String> headers(URI uri) {
        return Origin.of(uri).equals(origin) ? headers : Map.of();
    }

    /** Returns what to do about a refusal with 401 of this URI. */
    String remedy(URI uri) {
        if (!Origin.of(uri).equals(origin)) {
            return "without credentials, which are not sent where a redirection leads";
        }
        return headers.containsKey(AUTHORIZATION)
                ? "with the credentials of " + source
                : "credentials are taken from the file of penstock.http.headers, from .netrc, and HF_TOKEN for its hub";
    }
}
