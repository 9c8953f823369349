// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import io.penstock.formats.ElementType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.apache.arrow.flatbuf.DateUnit;
import org.apache.arrow.flatbuf.Decimal;
import org.apache.arrow.flatbuf.DictionaryEncoding;
import org.apache.arrow.flatbuf.Field;
import org.apache.arrow.flatbuf.FieldNode;
import org.apache.arrow.flatbuf.FixedSizeBinary;
import org.apache.arrow.flatbuf.FixedSizeList;
import org.apache.arrow.flatbuf.FloatingPoint;
import org.apache.arrow.flatbuf.Int;
import org.apache.arrow.flatbuf.Interval;
import org.apache.arrow.flatbuf.IntervalUnit;
import org.apache.arrow.flatbuf.MetadataVersion;
import org.apache.arrow.flatbuf.RecordBatch;
import org.apache.arrow.flatbuf.Schema;
import org.apache.arrow.flatbuf.Time;
import org.apache.arrow.flatbuf.Type;
import org.apache.arrow.flatbuf.Union;
import org.apache.arrow.flatbuf.UnionMode;
import org.jspecify.annotations.Nullable;

/**
 * The buffers of a record batch of a schema, in their order: Arrow's columnar format, "Serialization and Interprocess
 * Communication".
 */
final class ArrowLayout {

    /** Bits of eight elements, the first in the lowest bit. */
    static final ElementType BITS = ElementType.of("BITS", 1);

    static final String VIEWS = "views";
    static final String OFFSETS = "offsets";
    static final String DATA = "data";
    static final String VALIDITY = "validity";
    static final String SIZES = "sizes";
    static final String TYPES = "types";
    static final String INDICES = "indices of dictionary ";

    /** How many elements a buffer of a field has. */
    enum Count {
        /** One for each row. */
        ROWS,
        /** One more: where each row starts, and where the last one ends. */
        ROWS_AND_ONE,
        /** A bit for each row. */
        BITS_OF_ROWS,
        /** As many as there are. */
        ANY
    }

    /**
     * A buffer of a field.
     *
     * @param node the number of the field, of which the record batch has the rows
     * @param columns how many of the field's rows a list of fixed size has; 0 if it is not in one
     */
    record Buffer(int node, String field, String role, ElementType type, Count count, long columns) {

        /** Returns whether the rows need no bytes of it. */
        boolean mayBeAbsent(FieldNode rows) {
            return count == Count.ANY || rows.length() == 0 || role.equals(VALIDITY) && rows.nullCount() == 0;
        }
    }

    private final HeaderBytes bytes;
    private final boolean unionsHaveValidity;
    private final List<Buffer> buffers = new ArrayList<>();
    private final Set<String> names = new HashSet<>(); // of fields
    private final Set<Integer> top = new HashSet<>(); // the numbers of fields that have no parent
    private final List<Least> least = new ArrayList<>();
    private final Map<Integer, Map<Integer, Integer>> unions = new HashMap<>(); // their fields by type, by number
    private final Map<Integer, Integer> runs =
            new HashMap<>(); // the fields that they are of, by the number of their ends
    private int nodes;
    private int variadic;

    /** A field that needs as many rows as {@code times} the rows of another. */
    private record Least(String field, int node, int other, long times) {}

    private ArrowLayout(HeaderBytes bytes, short version) {
        this.bytes = bytes;
        this.unionsHaveValidity = version < MetadataVersion.V5;
    }

    static ArrowLayout of(HeaderBytes bytes, Schema schema, short version) {
        ArrowLayout layout = new ArrowLayout(bytes, version);
        for (int i = 0; i < schema.fieldsLength(); i++) {
            layout.top.add(layout.nodes);
            layout.field(Objects.requireNonNull(schema.fields(i), "field"), "", 0);
        }
        return layout;
    }

    /** Returns the layout of the dictionary of that number: of a field's values, not of its indices. */
    static ArrowLayout ofDictionary(HeaderBytes bytes, Field field, short version) {
        ArrowLayout layout = new ArrowLayout(bytes, version);
        layout.top.add(0);
        layout.values(field, path(field, ""), 0);
        return layout;
    }

    List<Buffer> buffers() {
        return buffers;
    }

    int nodes() {
        return nodes;
    }

    /** Returns whether the field of that number has as many rows as the record batch. */
    boolean isTop(int node) {
        return top.contains(node);
    }

    /** Returns how many fields have a number of buffers that is in each record batch. */
    int variadic() {
        return variadic;
    }

    /** Returns the numbers of a union's fields, by their types. */
    Map<Integer, Integer> union(int node) {
        return unions.getOrDefault(node, Map.of());
    }

    /** Returns the field whose runs end as the field of that number says; null if it is no field of run ends. */
    @Nullable
    Integer ofRuns(int node) {
        return runs.get(node);
    }

    /** Compares the rows of fields with the rows that other fields of the record batch lead to. */
    void compare(RecordBatch batch) {
        for (Least needs : least) {
            long rows = node(batch, needs.node).length();
            long needed = Math.multiplyExact(node(batch, needs.other).length(), needs.times);
            if (rows < needed) {
                throw bytes.malformed(
                        "field " + needs.field + " of a record batch needs " + needed + " rows, had " + rows);
            }
        }
        runs.forEach((ends, field) -> {
            FieldNode node = node(batch, ends);
            long rows = node(batch, field).length();
            if (node.nullCount() != 0 || node.length() == 0 && rows > 0) {
                throw bytes.malformed("a field of " + rows + " rows has " + node.length() + " run ends, "
                        + node.nullCount() + " of them null");
            }
        });
    }

    private static FieldNode node(RecordBatch batch, int number) {
        return Objects.requireNonNull(batch.nodes(number), "node");
    }

    /** Returns the path of a field within {@code path}. */
    static String path(Field field, String path) {
        String name = field.name();
        return path + (path.isEmpty() ? "" : ".") + (name == null ? "" : name);
    }

    /** Returns the path of a field; fields may have the same name: the suffix is the field's number in the schema. */
    private String name(Field field, String path) {
        String name = path(field, path);
        String unique = name;
        for (int i = 2; !names.add(unique); i++) {
            unique = name + "~" + i;
        }
        return unique;
    }

    private void field(Field field, String path, long columns) {
        String name = name(field, path);
        DictionaryEncoding dictionary = field.dictionary();
        if (dictionary == null) {
            values(field, name, columns);
            return;
        }
        Int index = dictionary.indexType();
        int node = nodes++;
        validity(node, name);
        ElementType type = index == null ? ElementType.I32 : integer(index);
        buffers.add(new Buffer(node, name, INDICES + dictionary.id(), type, Count.ROWS, 0));
    }

    private void validity(int node, String name) {
        buffers.add(new Buffer(node, name, VALIDITY, BITS, Count.BITS_OF_ROWS, 0));
    }

    private void values(Field field, String name, long columns) {
        int node = nodes++;
        byte type = field.typeType();
        boolean union = type == Type.Union;
        if (type != Type.Null && type != Type.RunEndEncoded && (!union || unionsHaveValidity)) {
            validity(node, name);
        }
        switch (type) {
            case Type.Null, Type.RunEndEncoded, Type.Struct_, Type.FixedSizeList -> {}
            case Type.Utf8, Type.Binary -> texts(node, name, ElementType.I32);
            case Type.LargeUtf8, Type.LargeBinary -> texts(node, name, ElementType.I64);
            case Type.List, Type.Map -> add(node, name, OFFSETS, ElementType.I32, Count.ROWS_AND_ONE);
            case Type.LargeList -> add(node, name, OFFSETS, ElementType.I64, Count.ROWS_AND_ONE);
            case Type.ListView -> views(node, name, ElementType.I32);
            case Type.LargeListView -> views(node, name, ElementType.I64);
            case Type.Utf8View, Type.BinaryView -> {
                add(node, name, VIEWS, ElementType.of("VIEW", 16), Count.ROWS);
                variadic++;
            }
            case Type.Union -> {
                add(node, name, TYPES, ElementType.I8, Count.ROWS);
                if (type(field, new Union()).mode() == UnionMode.Dense) {
                    add(node, name, OFFSETS, ElementType.I32, Count.ROWS);
                }
            }
            case Type.Bool -> add(node, name, DATA, BITS, Count.BITS_OF_ROWS);
            default -> {
                ElementType elements = fixed(field, name);
                boolean empty = type == Type.FixedSizeBinary && elements.equals(ElementType.U8);
                buffers.add(new Buffer(node, name, DATA, elements, empty ? Count.ANY : Count.ROWS, columns));
            }
        }
        List<Integer> children = new ArrayList<>();
        for (int i = 0; i < field.childrenLength(); i++) {
            children.add(nodes);
            field(Objects.requireNonNull(field.children(i), "child"), name, listSize(field));
        }
        relate(field, name, node, children);
    }

    /** Notes what the rows of a field lead to in its children. */
    private void relate(Field field, String name, int node, List<Integer> children) {
        byte type = field.typeType();
        boolean sparse = type == Type.Union && type(field, new Union()).mode() == UnionMode.Sparse;
        if (type == Type.Union) {
            unions.put(node, types(type(field, new Union()), name, children));
        }
        if (type == Type.Struct_ || sparse) {
            children.forEach(child -> least.add(new Least(name, child, node, 1)));
        } else if (type == Type.FixedSizeList) {
            least.add(new Least(name, children.get(0), node, listSize(field)));
        } else if (type == Type.RunEndEncoded) {
            runs.put(children.get(0), node);
            least.add(new Least(name, children.get(1), children.get(0), 1));
        }
    }

    private static int listSize(Field field) {
        return field.typeType() == Type.FixedSizeList
                ? type(field, new FixedSizeList()).listSize()
                : 0;
    }

    private Map<Integer, Integer> types(Union union, String name, List<Integer> children) {
        int ids = union.typeIdsLength();
        if (ids != 0 && ids != children.size()) {
            throw bytes.malformed("field " + name + " has " + children.size() + " children, but " + ids + " types");
        }
        Map<Integer, Integer> types = new TreeMap<>();
        for (int i = 0; i < children.size(); i++) {
            types.put(ids == 0 ? i : union.typeIds(i), children.get(i));
        }
        return types;
    }

    private void add(int node, String name, String role, ElementType type, Count count) {
        buffers.add(new Buffer(node, name, role, type, count, 0));
    }

    private void texts(int node, String name, ElementType offset) {
        add(node, name, OFFSETS, offset, Count.ROWS_AND_ONE);
        add(node, name, DATA, ElementType.U8, Count.ANY);
    }

    private void views(int node, String name, ElementType offset) {
        add(node, name, OFFSETS, offset, Count.ROWS);
        add(node, name, SIZES, offset, Count.ROWS);
    }

    private ElementType fixed(Field field, String name) {
        byte type = field.typeType();
        return switch (type) {
            case Type.Int -> integer(type(field, new Int()));
            case Type.FloatingPoint ->
                switch (type(field, new FloatingPoint()).precision()) {
                    case 0 -> ElementType.F16;
                    case 1 -> ElementType.F32;
                    case 2 -> ElementType.F64;
                    default -> throw bytes.malformed("field " + name + " has an unknown precision");
                };
            case Type.Date ->
                type(field, new org.apache.arrow.flatbuf.Date()).unit() == DateUnit.DAY
                        ? ElementType.I32
                        : ElementType.I64;
            case Type.Time -> number(type(field, new Time()).bitWidth(), true);
            case Type.Timestamp, Type.Duration -> ElementType.I64;
            case Type.Interval -> interval(type(field, new Interval()));
            case Type.Decimal -> {
                int bits = type(field, new Decimal()).bitWidth();
                yield sized(name, "DECIMAL" + bits, bits / Byte.SIZE);
            }
            case Type.FixedSizeBinary -> {
                int width = type(field, new FixedSizeBinary()).byteWidth();
                yield width == 0 ? ElementType.U8 : sized(name, "V" + width, width); // of 0, buffers have no bytes
            }
            default -> throw bytes.malformed("field " + name + " has the unknown type " + type);
        };
    }

    /** Lets {@code into} be the type of a field, of which the caller knows the kind. */
    private static <T extends com.google.flatbuffers.Table> T type(Field field, T into) {
        Objects.requireNonNull(field.type(into), "type");
        return into;
    }

    private ElementType sized(String name, String type, int width) {
        if (width < 1) {
            throw bytes.malformed("field " + name + " has elements of " + width + " bytes");
        }
        return ElementType.of(type, width);
    }

    private static ElementType interval(Interval interval) {
        return switch (interval.unit()) {
            case IntervalUnit.YEAR_MONTH -> ElementType.I32;
            case IntervalUnit.DAY_TIME -> ElementType.of("DAY_TIME", 8);
            default -> ElementType.of("MONTH_DAY_NANO", 16);
        };
    }

    private ElementType integer(Int type) {
        return number(type.bitWidth(), type.isSigned());
    }

    private ElementType number(int bits, boolean signed) {
        return switch (bits) {
            case 8 -> signed ? ElementType.I8 : ElementType.U8;
            case 16 -> signed ? ElementType.I16 : ElementType.U16;
            case 32 -> signed ? ElementType.I32 : ElementType.U32;
            case 64 -> signed ? ElementType.I64 : ElementType.U64;
            default -> throw bytes.malformed("an integer must have 8, 16, 32 or 64 bits, had " + bits);
        };
    }
}
