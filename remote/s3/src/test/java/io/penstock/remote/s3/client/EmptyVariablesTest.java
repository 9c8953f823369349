// SPDX-License-Identifier: Apache-2.0
package io.penstock.remote.s3.client;

import static org.assertj.core.api.Assertions.assertThat;

import io.penstock.CommonOptions;
import io.penstock.Option;
import io.penstock.Options;
import io.penstock.remote.s3.S3Options;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * A variable that is set to nothing, as {@code AWS_REGION=${AWS_REGION}} of a compose file sets it, is one that is not
 * set.
 */
class EmptyVariablesTest {

    @Test
    void emptyVariablesLeadToTheOthers() throws Exception {
        assertThat(settings(Map.of(
                        "AWS_ENDPOINT_URL_S3", "",
                        "AWS_ENDPOINT_URL", "http://localhost:9000",
                        "AWS_REGION", "",
                        "AWS_DEFAULT_REGION", "eu-west-1")))
                .isEqualTo("[http://localhost:9000] [eu-west-1]");
    }

    @Test
    void emptyVariablesLeadToTheDefaults() throws Exception {
        assertThat(settings(Map.of(
                        "AWS_ENDPOINT_URL_S3", "",
                        "AWS_ENDPOINT_URL", "",
                        "AWS_REGION", "",
                        "AWS_DEFAULT_REGION", "")))
                .isEqualTo("[] [us-east-1]");
    }

    private static String settings(Map<String, String> variables) throws Exception {
        return OtherProcess.output(EmptyVariablesTest.class, all -> all.putAll(variables))
                .strip();
    }

    /** Prints the server and the region that the environment names. */
    public static void main(String[] arguments) {
        List<Option<?>> known = new ArrayList<>(CommonOptions.all());
        known.addAll(S3Options.all());
        CrtClient.Settings settings = CrtClient.Settings.of(Options.none().resolve(known));
        System.out.println("[" + settings.endpoint() + "] [" + settings.region() + "]");
    }
}
