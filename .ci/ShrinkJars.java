// SPDX-License-Identifier: Apache-2.0
import java.io.IOException;
import java.io.OutputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.jar.JarEntry;
import java.util.jar.JarFile;
import java.util.jar.JarOutputStream;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/**
 * Copies jars without the classes that no run has loaded: {@code java ShrinkJars.java LOGS TARGET JAR...}. LOGS is a
 * folder of what {@code -Xlog:class+load} wrote. A class stays if it was loaded, or one that is nested beside it, or if
 * it is an exception. Packages of Spark's core stay whole if one class was loaded: what it does when an executor ends
 * takes others. Everything that is not a class stays, but libraries of other systems than Linux on x86-64.
 */
final class ShrinkJars {

    private static final Pattern LOADED = Pattern.compile("\\]\\s*([\\w.]+)[\\w.$/]* source: ");
    private static final Pattern WHOLE = Pattern.compile("org\\.apache\\.spark\\.(?!sql\\.).*");
    private static final Pattern LIBRARY = Pattern.compile(".*\\.(so|dll|dylib|jnilib|a)");
    private static final Pattern OURS = Pattern.compile("(?i).*(x86_64|amd64).*\\.so");
    private static final Pattern OTHERS = Pattern.compile("(?i).*(freebsd|sunos|solaris|mac|osx|android|musl).*");

    public static void main(String[] arguments) throws IOException {
        Set<String> loaded = new HashSet<>();
        try (Stream<Path> logs = Files.list(Path.of(arguments[0]))) {
            for (Path log : logs.toList()) {
                for (String line : Files.readAllLines(log)) {
                    Matcher found = LOADED.matcher(line);
                    if (found.find()) {
                        loaded.add(found.group(1));
                        loaded.add(packageOf(found.group(1)));
                    }
                }
            }
        }
        Path target = Files.createDirectories(Path.of(arguments[1]));
        for (String jar : List.of(arguments).subList(2, arguments.length)) {
            copy(Path.of(jar), target, loaded);
        }
    }

    private static String packageOf(String type) {
        return type.substring(0, Math.max(0, type.lastIndexOf('.')));
    }

    private static void copy(Path from, Path target, Set<String> loaded) throws IOException {
        try (JarFile jar = new JarFile(from.toFile())) {
            List<JarEntry> kept = new ArrayList<>();
            jar.stream().filter(entry -> stays(entry, loaded)).forEach(kept::add);
            if (kept.stream().noneMatch(entry -> entry.getName().matches(".*\\.(class|so)"))) {
                return;
            }
            try (OutputStream file = Files.newOutputStream(target.resolve(from.getFileName()));
                    JarOutputStream copy = new JarOutputStream(file)) {
                copy.setLevel(0);
                for (JarEntry entry : kept) {
                    copy.putNextEntry(new JarEntry(entry.getName()));
                    jar.getInputStream(entry).transferTo(copy);
                }
            }
        }
    }

    private static boolean stays(JarEntry entry, Set<String> loaded) {
        String name = entry.getName();
        if (name.endsWith(".class")) {
            String outermost = name.replaceAll("[$.].*", "").replace('/', '.');
            boolean whole = WHOLE.matcher(outermost).matches() && loaded.contains(packageOf(outermost));
            return whole || loaded.contains(outermost) || outermost.matches(".*(Exception|Error|Throwable)s?");
        }
        boolean index = name.equals("META-INF/INDEX.LIST"); // of jars that are not there
        boolean ours = OURS.matcher(name).matches() && !OTHERS.matcher(name).matches();
        return !index && (ours || !LIBRARY.matcher(name).matches());
    }
}
