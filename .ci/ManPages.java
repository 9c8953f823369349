// SPDX-License-Identifier: Apache-2.0
import io.penstock.cli.Penstock;
import java.io.File;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.Writer;
import picocli.codegen.docgen.manpage.ManPageGenerator;

/** Writes the manual pages of penstock and of each of its commands as AsciiDoc: {@code ManPages FOLDER}. */
final class ManPages {

    private ManPages() {}

    public static void main(String[] arguments) throws IOException {
        PrintWriter nothing = new PrintWriter(Writer.nullWriter());
        var penstock = Penstock.line(nothing, nothing).getCommandSpec();
        penstock.subcommands().values().forEach(command -> command.getCommandSpec().version(penstock.version()));
        System.exit(ManPageGenerator.generateManPage(new File(arguments[0]), null, new boolean[0], true, penstock));
    }
}
