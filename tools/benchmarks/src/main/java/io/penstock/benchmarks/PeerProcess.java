// SPDX-License-Identifier: Apache-2.0
package io.penstock.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.Writer;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The C peers: one process that takes one order at a time. A process that fails or hangs is terminated, and the next
 * order starts another.
 */
final class PeerProcess implements AutoCloseable {

    private static final long LIMIT_SECONDS = 90;

    private final List<String> program;
    private final Map<String, String> environment;
    private @Nullable Process process;
    private @Nullable BufferedReader answers;
    private @Nullable Writer orders;

    /**
     * Creates an instance; the program starts with the first order.
     *
     * @param program the C peers or a program with the same protocol, with its arguments
     */
    PeerProcess(List<String> program, Map<String, String> environment) {
        this.program = List.copyOf(program);
        this.environment = Map.copyOf(environment);
    }

    /** Returns a contender that starts the program separately, for one answer. */
    StartContender starting(Order order, String... arguments) {
        List<String> command = new ArrayList<>(program);
        command.addAll(List.of(arguments));
        return StartContender.program(command, environment, order);
    }

    /**
     * Sends an order and returns the words of its answer, without the "ok".
     *
     * @throws IOException if it failed or took too long
     */
    String[] order(String line) throws IOException, InterruptedException {
        Process running = process;
        if (running == null || answers == null || orders == null) {
            ProcessBuilder builder = new ProcessBuilder(program).redirectError(Redirect.INHERIT);
            builder.environment().putAll(environment);
            running = builder.start();
            process = running;
            orders = running.outputWriter(StandardCharsets.UTF_8);
            answers = new BufferedReader(new InputStreamReader(running.getInputStream(), StandardCharsets.UTF_8));
        }
        Process mine = running;
        Thread limit = new Thread(() -> endLate(mine), "limit of a peer");
        limit.setDaemon(true);
        limit.start();
        try {
            orders.write(line + "\n");
            orders.flush();
            String answer = answers.readLine();
            if (answer == null || !answer.startsWith("ok ")) {
                throw new IOException(answer == null ? "it ended or hung" : answer);
            }
            return answer.substring(3).split(" ");
        } catch (IOException e) {
            close();
            throw new IOException(line + ": " + e.getMessage(), e);
        } finally {
            limit.interrupt();
            limit.join();
        }
    }

    private static void endLate(Process running) {
        try {
            TimeUnit.SECONDS.sleep(LIMIT_SECONDS);
            running.destroyForcibly();
        } catch (InterruptedException e) {
            // It has answered in time.
        }
    }

    @Override
    public void close() {
        Process running = process;
        process = null;
        answers = null;
        orders = null;
        if (running != null) {
            running.destroyForcibly();
        }
    }
}
