// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import java.io.PrintWriter;
import java.nio.charset.Charset;
import java.nio.file.Path;
import java.util.ServiceLoader;
import org.jspecify.annotations.Nullable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.HelpCommand;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.ParameterException;

/** The {@code penstock} command: its own subcommands, and each {@link Subcommand} on the class path. */
@Command(
        name = "penstock",
        description = "Moves file data between storage and accelerators, and demonstrates its use.",
        subcommands = {
            DoctorCommand.class,
            LsCommand.class,
            LoadCommand.class,
            CopyCommand.class,
            BenchCommand.class,
            ServeCommand.class,
            ExtentsCommand.class
        },
        resourceBundle = "io.penstock.cli.Penstock",
        version = "penstock ${bundle:built.version} (commit ${bundle:built.commit})",
        footer = {"", "In a clone of the repository, ./penstock spark-demo runs a job of Spark, too."},
        synopsisSubcommandLabel = "COMMAND")
public final class Penstock {

    private static final int FAILED = 1;
    private static final int MISUSED = 2;
    private static final int LEAST_COLUMNS = 55; // of picocli
    private static final int DEFAULT_COLUMNS = 80;

    private Penstock() {}

    public static void main(String[] arguments) {
        if ("dumb".equals(System.getenv("TERM"))) {
            System.setProperty("picocli.ansi", "false"); // which knows of NO_COLOR by itself
        }
        PrintWriter out = new PrintWriter(System.out, true, Charset.defaultCharset());
        PrintWriter err = new PrintWriter(System.err, true, Charset.defaultCharset());
        System.exit(run(out, err, arguments));
    }

    /** Runs a command and returns its exit code: 0, 1 if it failed, 2 if it was misused. */
    public static int run(PrintWriter out, PrintWriter err, String... arguments) {
        int code = line(out, err).execute(arguments.length == 0 ? new String[] {"--help"} : arguments);
        if (out.checkError() && code == 0) { // a PrintWriter does not throw
            err.println("penstock: standard output cannot be written");
            return FAILED;
        }
        return code;
    }

    /** Returns the command with all its subcommands. */
    public static CommandLine line(PrintWriter out, PrintWriter err) {
        CommandLine line = new CommandLine(new Penstock());
        ServiceLoader.load(Subcommand.class, Penstock.class.getClassLoader()).forEach(line::addSubcommand);
        line.addSubcommand(new HelpCommand());
        line.addSubcommand(new AutoComplete.GenerateCompletion());
        line.setOut(out);
        line.setErr(err);
        addHelp(line);
        line.getCommandSpec()
                .addOption(OptionSpec.builder("-V", "--version")
                        .versionHelp(true)
                        .description("Prints the version.")
                        .build());
        line.getSubcommands().values().forEach(Penstock::addHelp);
        line.setCaseInsensitiveEnumValuesAllowed(true);
        line.setExpandAtFiles(false); // @name is a file of this name, not a list of arguments
        line.registerConverter(Path.class, FileName::path);
        line.setUsageHelpWidth(columns(System.getenv("COLUMNS")));
        line.setParameterExceptionHandler(Penstock::misused);
        line.setExecutionExceptionHandler((e, command, parsed) -> {
            command.getErr().println("penstock: " + Complaint.lines(e));
            return FAILED;
        });
        return line;
    }

    /** Returns the width of help texts: the shell's value if it is a valid width. */
    static int columns(@Nullable String value) {
        boolean number = value != null && value.matches("[1-9][0-9]{0,3}");
        return number ? Math.max(LEAST_COLUMNS, Integer.parseInt(value)) : DEFAULT_COLUMNS;
    }

    /** A mixin would add --version, which only the top-level command has. */
    private static void addHelp(CommandLine command) {
        if (command.getCommandSpec().findOption("--help") == null) {
            command.getCommandSpec()
                    .addOption(OptionSpec.builder("-h", "--help")
                            .usageHelp(true)
                            .description("Shows this help.")
                            .build());
        }
    }

    private static int misused(ParameterException e, String[] arguments) {
        CommandLine command = e.getCommandLine();
        PrintWriter err = command.getErr();
        err.println("penstock: " + TextTable.plainLines(Misuse.of(e)));
        err.println("see: ./" + command.getCommandSpec().qualifiedName() + " --help");
        return MISUSED;
    }
}
