// SPDX-License-Identifier: Apache-2.0
package io.penstock.house;

import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.IdentifierTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.util.JavacTask;
import com.sun.source.util.SourcePositions;
import com.sun.source.util.TreeScanner;
import com.sun.source.util.Trees;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;

/**
 * The content of a file of Java, for rules that hold for modules which are on no class path of a test.
 *
 * @param place the name of its package, or an empty string
 * @param names qualified names in it, imports included, and simple ones that are used
 * @param types the simple names of its types
 * @param methods the lines of each method, from its annotations to its end, by {@code Type.method}
 */
record ParsedSource(Path file, String place, Set<String> names, List<String> types, Map<String, Integer> methods) {

    /** Parses files; what they refer to need not be there. */
    static List<ParsedSource> of(List<Path> files) throws IOException {
        JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
        try (StandardJavaFileManager manager = compiler.getStandardFileManager(null, null, StandardCharsets.UTF_8)) {
            JavacTask task = (JavacTask) compiler.getTask(
                    null, manager, null, List.of("-proc:none"), null, manager.getJavaFileObjectsFromPaths(files));
            SourcePositions positions = Trees.instance(task).getSourcePositions();
            List<ParsedSource> parsed = new ArrayList<>();
            for (CompilationUnitTree unit : task.parse()) {
                parsed.add(new Scan(unit, positions).parsed());
            }
            return parsed;
        }
    }

    /** Goes through one file. */
    private static final class Scan extends TreeScanner<Void, Void> {
        private final CompilationUnitTree unit;
        private final SourcePositions positions;
        private final Set<String> names = new LinkedHashSet<>();
        private final List<String> types = new ArrayList<>();
        private final Map<String, Integer> methods = new LinkedHashMap<>();
        private String type = "";

        Scan(CompilationUnitTree unit, SourcePositions positions) {
            this.unit = unit;
            this.positions = positions;
        }

        ParsedSource parsed() {
            scan(unit, null);
            String place = Objects.toString(unit.getPackageName(), "");
            return new ParsedSource(Path.of(unit.getSourceFile().toUri()), place, names, types, methods);
        }

        @Override
        public Void visitMemberSelect(MemberSelectTree name, Void nothing) {
            names.add(name.toString());
            return super.visitMemberSelect(name, null);
        }

        @Override
        public Void visitIdentifier(IdentifierTree name, Void nothing) {
            names.add(name.toString());
            return null;
        }

        @Override
        public Void visitClass(ClassTree declared, Void nothing) {
            String outer = type;
            String name = declared.getSimpleName().toString();
            if (!name.isEmpty()) {
                types.add(name);
                type = name;
            }
            super.visitClass(declared, null);
            type = outer;
            return null;
        }

        @Override
        public Void visitMethod(MethodTree method, Void nothing) {
            if (method.getBody() != null && positions.getEndPosition(unit, method) >= 0) {
                long first = unit.getLineMap().getLineNumber(positions.getStartPosition(unit, method));
                long last = unit.getLineMap().getLineNumber(positions.getEndPosition(unit, method));
                methods.merge(type + "." + method.getName(), (int) (last - first + 1), Math::max);
            }
            return super.visitMethod(method, null);
        }
    }
}
