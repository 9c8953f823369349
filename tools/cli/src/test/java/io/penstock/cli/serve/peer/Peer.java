// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli.serve.peer;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** A server of the comparison: its process, and wrk's report of it. */
final class Peer implements AutoCloseable {

    private static final int MIB = 1 << 20;
    private static final int CONNECTIONS = 8;
    private static final int TRIES = 600;
    private static final int PAUSE_MILLIS = 100;
    private static final Pattern REQUESTS = Pattern.compile("Requests/sec:\\s+([0-9.]+)");

    private final String variant;
    private final Process process;
    private final String file; // its URL
    private final Path script;

    private Peer(String variant, Process process, String file, Path script) {
        this.variant = variant;
        this.process = process;
        this.file = file;
        this.script = script;
    }

    static Peer start(String variant, Path directory, int port) throws IOException {
        List<String> command = variant.equals("nginx")
                ? List.of(
                        "nginx",
                        "-p",
                        directory.toString(),
                        "-c",
                        nginx(directory, port).toString())
                : java(variant, directory, port);
        Process process = new ProcessBuilder(command).inheritIO().start();
        Path script = directory.resolve("ranges.lua");
        Files.writeString(script, """
                local most = 127
                function request()
                    local at = math.random(0, most) * 1048576
                    return wrk.format("GET", nil, {["Range"] = "bytes=" .. at .. "-" .. at + 1048575})
                end
                """);
        return new Peer(variant, process, "http://127.0.0.1:" + port + folder(variant) + "/hot.bin", script);
    }

    private static String folder(String variant) {
        if (variant.startsWith("webflux-buffers:")) {
            return "/buffers/" + variant.substring(variant.indexOf(':') + 1);
        }
        return isWebFlux(variant) ? "/files" : "";
    }

    private static boolean isWebFlux(String variant) {
        return variant.startsWith("webflux");
    }

    private static List<String> java(String variant, Path directory, int port) {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.addAll(List.of("-Xms512m", "-Xmx512m", "--enable-native-access=ALL-UNNAMED"));
        if (isWebFlux(variant)) {
            boolean isOurs = (variant + ":").startsWith("webflux:");
            String application = isOurs ? "webflux.FileServer" : "plainspring.SpringFileServer";
            command.addAll(List.of("-cp", System.getProperty("webflux.path"), "io.penstock.samples." + application));
            command.addAll(
                    List.of("--files.folder=" + directory, "--server.port=" + port, "--logging.level.root=warn"));
            if (isOurs && variant.contains(":")) { // an option of the backend
                command.add("--penstock." + variant.substring(variant.indexOf(':') + 1));
            }
            return command;
        }
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), PeerServer.class.getName()));
        command.addAll(List.of(variant, directory.toString(), Integer.toString(port)));
        return command;
    }

    private static Path nginx(Path directory, int port) throws IOException {
        Path configuration = directory.resolve("nginx.conf");
        return Files.writeString(configuration, """
                daemon off; worker_processes auto; pid %1$s/nginx.pid; error_log stderr; user root;
                events { worker_connections 256; }
                http {
                    access_log off; sendfile on; tcp_nopush on; keepalive_requests 1000000; open_file_cache max=16;
                    server { listen 127.0.0.1:%2$d; root %1$s; }
                }
                """.formatted(directory, port));
    }

    /** Waits until it answers, and checks three ranges. */
    void verify(byte[] content) throws Exception {
        HttpClient client = HttpClient.newHttpClient();
        for (int at : new int[] {0, 17 * MIB, content.length - MIB}) {
            HttpRequest request = HttpRequest.newBuilder(URI.create(file))
                    .header("Range", "bytes=" + at + "-" + (at + MIB - 1))
                    .build();
            HttpResponse<byte[]> answer = ask(client, request);
            if (answer.statusCode() != 206
                    || !Arrays.equals(answer.body(), Arrays.copyOfRange(content, at, at + MIB))) {
                throw new IllegalStateException(variant + " sends other bytes: status " + answer.statusCode());
            }
        }
    }

    private HttpResponse<byte[]> ask(HttpClient client, HttpRequest request) throws Exception {
        for (int i = 0; ; i++) {
            try {
                return client.send(request, HttpResponse.BodyHandlers.ofByteArray());
            } catch (IOException notYet) {
                if (i == TRIES || !process.isAlive()) {
                    throw new IllegalStateException(variant + " does not answer", notYet);
                }
                TimeUnit.MILLISECONDS.sleep(PAUSE_MILLIS);
            }
        }
    }

    /**
     * What a server did under load.
     *
     * @param cpuMillisPerGib processor time of the server's own processes
     */
    record Load(double mibPerSecond, double cpuMillisPerGib) {}

    /** Has wrk ask for a while. */
    Load load(int seconds) throws Exception {
        double before = cpuMillis();
        Process wrk = new ProcessBuilder(
                        "wrk", "-t1", "-c" + CONNECTIONS, "-d" + seconds + "s", "-s", script.toString(), file)
                .redirectErrorStream(true)
                .start();
        String said = new String(wrk.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        Matcher rate = REQUESTS.matcher(said);
        if (wrk.waitFor() != 0 || !rate.find() || said.contains("Non-2xx") || said.contains("Socket errors")) {
            throw new IllegalStateException("wrk on " + variant + ": " + said);
        }
        double mibPerSecond = Double.parseDouble(rate.group(1)); // a request is 1 MiB
        return new Load(mibPerSecond, (cpuMillis() - before) / (mibPerSecond * seconds / 1024));
    }

    private double cpuMillis() {
        return Stream.concat(Stream.of(process.toHandle()), process.descendants())
                .flatMap(each -> each.info().totalCpuDuration().stream())
                .mapToLong(Duration::toMillis)
                .sum();
    }

    @Override
    public void close() {
        process.destroy();
    }
}
