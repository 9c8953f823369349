// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.backend.nvme.ExtentMap;
import java.io.IOException;
import java.nio.file.Path;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** {@code penstock extents}: records where a file lies on an NVMe disk, for the backend {@code nvme}. */
@Command(
        name = "extents",
        description =
                "Records where FILE lies on an NVMe disk, while the kernel has the controller and the file's ext4 is mounted"
                        + " read-only. The backend nvme, which gets the controller afterwards, opens MAP as FILE. docs/nvme.md")
final class ExtentsCommand implements Callable<Integer> {

    @Spec
    private CommandSpec spec = CommandSpec.create();

    @Parameters(index = "0", paramLabel = "FILE", description = "The file.")
    private Path file = Path.of("");

    @Parameters(
            index = "1",
            paramLabel = "MAP",
            description = "The map to write, on another disk; must end with " + ExtentMap.SUFFIX + ".")
    private Path map = Path.of("");

    @Override
    public Integer call() throws IOException {
        if (!map.toString().endsWith(ExtentMap.SUFFIX)) {
            throw new ParameterException(spec.commandLine(), "MAP must end with " + ExtentMap.SUFFIX + ", was " + map);
        }
        ExtentMap recorded = ExtentMap.of(file);
        recorded.write(map);
        spec.commandLine()
                .getOut()
                .println(recorded.bytes() + " bytes in " + recorded.extents().size() + " extents of namespace "
                        + recorded.namespace() + ", controller " + recorded.serial());
        return 0;
    }
}
