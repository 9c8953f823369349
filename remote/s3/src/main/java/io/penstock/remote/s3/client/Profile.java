// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The profile of AWS's configuration that {@code AWS_PROFILE} names; of it, what the Common Runtime does not tell. */
final class Profile {

    private static final Pattern TITLE = Pattern.compile("\\[\\s*(?:profile\\s+)?(.+?)\\s*\\].*");
    private static final Pattern REGION = Pattern.compile("region\\s*=\\s*(\\S*).*"); // not indented: of the profile

    private Profile() {}

    /** Returns the region, from the file of the configuration, else of the credentials; empty if it has none. */
    static String region(Map<String, String> environment, String home) {
        Path folder = Path.of(first(environment, "HOME", home), ".aws");
        String name = first(environment, "AWS_PROFILE", "default");
        String region = region(Path.of(first(environment, "AWS_CONFIG_FILE", folder + "/config")), name);
        return region.isEmpty()
                ? region(Path.of(first(environment, "AWS_SHARED_CREDENTIALS_FILE", folder + "/credentials")), name)
                : region;
    }

    private static String first(Map<String, String> environment, String name, String fallback) {
        String value = environment.getOrDefault(name, "");
        return value.isEmpty() ? fallback : value;
    }

    private static String region(Path file, String profile) {
        if (!Files.isReadable(file)) {
            return "";
        }
        boolean within = false;
        try {
            for (String line : Files.readAllLines(file, StandardCharsets.ISO_8859_1)) {
                Matcher title = TITLE.matcher(line);
                Matcher region = REGION.matcher(line);
                if (title.matches()) {
                    within = title.group(1).equals(profile);
                } else if (within && region.matches()) {
                    return region.group(1);
                }
            }
        } catch (IOException e) {
            // as if it were not there: AWS's tools do so, too
        }
        return "";
    }
}
