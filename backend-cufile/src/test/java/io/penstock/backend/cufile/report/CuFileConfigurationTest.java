// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.cufile.report;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CuFileConfigurationTest {

    @TempDir
    Path folder;

    @Test
    void theFileIsTheOneThatTheVariableNames() throws IOException {
        Path named = write("named.json", "{ \"properties\": { \"use_pci_p2pdma\": true } } // so");
        Path usual = write("cufile.json", "{ \"properties\": { \"force_compat_mode\": true } }");
        Map<String, String> environment =
                Map.of("CUFILE_ENV_PATH_JSON", named.toString(), "HOME", "/root", "CUFILE_LOGGING_LEVEL", "INFO");
        CuFileConfiguration configuration = CuFileConfiguration.read(environment, usual);
        assertThat(configuration.file()).isEqualTo(named);
        assertThat(configuration.enablesP2pDma()).isTrue();
        assertThat(configuration.forcesCompatibility()).isFalse();
        assertThat(configuration.describe())
                .containsExactly(
                        named.toString(),
                        "  properties.use_pci_p2pdma = true",
                        "CUFILE_ENV_PATH_JSON=" + named,
                        "CUFILE_LOGGING_LEVEL=INFO");
        assertThat(CuFileConfiguration.read(Map.of(), usual).forcesCompatibility())
                .isTrue();
    }

    @Test
    void variablesCountWithoutAFile() {
        Map<String, String> environment = Map.of("CUFILE_USE_PCIP2PDMA", "true", "CUFILE_FORCE_COMPAT_MODE", "1");
        CuFileConfiguration configuration = CuFileConfiguration.read(environment, folder.resolve("none.json"));
        assertThat(configuration.enablesP2pDma()).isTrue();
        assertThat(configuration.forcesCompatibility()).isTrue();
        assertThat(configuration.describe().get(0)).endsWith("does not exist: libcufile uses its own settings");
    }

    @Test
    void aBrokenFileIsShownWithItsFault() throws IOException {
        CuFileConfiguration configuration = CuFileConfiguration.read(Map.of(), write("cufile.json", "{\n\"a\" 1\n}"));
        assertThat(configuration.problem()).contains("line 2: :");
        assertThat(configuration.values()).isEmpty();
    }

    /** In the locale C a name with other characters than ASCII is none. */
    @Test
    void aVariableThatIsNoPathHereIsAProblemOfTheFile() throws IOException {
        Path usual = write("cufile.json", "{ \"properties\": { \"force_compat_mode\": true } }");
        CuFileConfiguration configuration =
                CuFileConfiguration.read(Map.of("CUFILE_ENV_PATH_JSON", "/home/\0/cufile.json"), usual);
        assertThat(configuration.problem()).startsWith("is not read, but CUFILE_ENV_PATH_JSON, which is no path");
        assertThat(configuration.forcesCompatibility()).isFalse();
    }

    private Path write(String name, String text) throws IOException {
        return Files.writeString(folder.resolve(name), text);
    }
}
