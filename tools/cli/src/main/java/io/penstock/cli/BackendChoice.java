// SPDX-License-Identifier: Apache-2.0
package io.penstock.cli;

import io.penstock.Backend;
import io.penstock.Backends;
import io.penstock.Options;
import io.penstock.backend.nvme.ExtentMap;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/** The option {@code --backend}, a mixin of all subcommands that move data. */
public final class BackendChoice {

    private static final Map<String, String> DEVICE_OPTIONS = Map.of(
            "cufile", "penstock.cufile.device",
            "hip", "penstock.hip.device",
            "opencl-ssg", "penstock.opencl.device",
            "gl", "penstock.gl.device");

    @Spec(Spec.Target.MIXEE)
    private CommandSpec spec = CommandSpec.create();

    @Option(
            names = "--backend",
            paramLabel = "NAME",
            description = "host, cufile, hip, opencl-ssg, gl, dx11, nvme, or gpu for the best real GPU; else the"
                    + " value of PENSTOCK_BACKEND, else host.")
    private @Nullable String name;

    /** Opens the chosen backend. */
    public Backend open() {
        return open(Options.none());
    }

    /** Opens the chosen backend with options. */
    public Backend open(Options options) {
        return name == null ? Backends.open(options) : Backends.open(name, options);
    }

    /** Same as {@link #openDevice(int, Options)} without options. */
    Backend openDevice(int device) {
        return openDevice(device, Options.none());
    }

    /**
     * Opens the chosen backend on the device of that number.
     *
     * @throws ParameterException if the backend does not number its devices
     */
    Backend openDevice(int device, Options options) {
        String option = DEVICE_OPTIONS.get(name());
        if (option == null) {
            throw new ParameterException(
                    spec.commandLine(),
                    "--gpus needs a backend that numbers its devices, one of "
                            + String.join(", ", new TreeSet<>(DEVICE_OPTIONS.keySet())) + "; was " + name());
        }
        return Backends.open(name(), options.with(option, String.valueOf(device)));
    }

    /**
     * Checks that the chosen backend exists, for commands that open it later; it may be unusable here.
     *
     * @throws ParameterException if not; the message lists the backends that do
     */
    public void check() {
        List<String> names = Stream.concat(
                        Stream.of("gpu"), Backends.list().stream().map(Backends.Listing::name))
                .toList();
        if (!names.contains(name())) {
            throw new ParameterException(
                    spec.commandLine(), "there is no backend '" + name() + "', but " + String.join(", ", names));
        }
    }

    /**
     * Parses the value of {@code --path}, which may be null.
     *
     * @throws ParameterException if the chosen backend has no such path; the message lists the known ones
     */
    Variant variant(@Nullable String path) {
        try {
            return path == null ? Variant.ANY : Variant.of(path, name());
        } catch (IllegalArgumentException e) {
            throw new ParameterException(spec.commandLine(), e.getMessage(), e);
        }
    }

    /** Returns whether only the backend can open a path: blocks of an NVMe controller, or a file by its extents. */
    boolean ownsFile(Path path) {
        return name().equals("nvme") && (!Files.exists(path) || path.toString().endsWith(ExtentMap.SUFFIX));
    }

    /**
     * Returns the name of the option that selects the path of a backend; the options of opencl-ssg are named opencl.
     */
    public static String pathOption(String backend) {
        return "penstock." + backend.replaceFirst("-.*", "") + ".path";
    }

    /** Returns the name of the backend. */
    public String name() {
        return (name == null ? Backends.configured() : name).toLowerCase(Locale.ROOT);
    }
}
