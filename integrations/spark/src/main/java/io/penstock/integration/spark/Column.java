// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.sql.catalyst.util.GenericArrayData;
import org.apache.spark.sql.types.DataType;
import org.apache.spark.sql.types.DataTypes;
import org.apache.spark.sql.types.StructType;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/** A column of the source: its type, and its value of a region, as Spark's rows hold it. */
enum Column {
    PATH("path"),
    NAME("name"),
    DTYPE("dtype"),
    SHAPE("shape"),
    BYTE_ORDER("byteOrder"),
    ORDER("order"),
    OFFSET("offset"),
    LENGTH("length"),
    /** The content, which a {@link Region} does not have. */
    BYTES("bytes"),
    /** Device memory with the content. */
    HANDLE("handle");

    private final String label;

    Column(String label) {
        this.label = label;
    }

    private DataType type() {
        return switch (this) {
            case SHAPE -> DataTypes.createArrayType(DataTypes.LongType, false);
            case OFFSET, LENGTH, HANDLE -> DataTypes.LongType;
            case BYTES -> DataTypes.BinaryType;
            default -> DataTypes.StringType;
        };
    }

    /** Returns the columns of rows whose content is bytes, or device memory. */
    static StructType schema(boolean deviceMemory) {
        StructType schema = new StructType();
        for (Column column : values()) {
            if (column != (deviceMemory ? BYTES : HANDLE)) {
                schema = schema.add(column.label, column.type(), column != PATH && column != NAME && column != LENGTH);
            }
        }
        return schema;
    }

    /** Returns the columns of a schema that Spark has pruned. */
    static Column[] of(StructType schema) {
        return Arrays.stream(schema.fieldNames()).map(Column::named).toArray(Column[]::new);
    }

    static Column named(String label) {
        return Arrays.stream(values())
                .filter(column -> column.label.equals(label))
                .findFirst()
                .orElseThrow(() -> new IllegalArgumentException("columns must be of "
                        + Arrays.stream(values()).map(Column::label).toList() + ", was " + label));
    }

    String label() {
        return label;
    }

    /** Returns whether rows can be selected by its value before they are read: it is a text or a number. */
    boolean isComparable() {
        return this != SHAPE && !isContent();
    }

    /** Returns whether it has the bytes of the region, which are read for it. */
    boolean isContent() {
        return this == BYTES || this == HANDLE;
    }

    /** Returns the value: a String, a Long, a List of them, or null. */
    @Nullable
    Object value(Region region) {
        Region.@Nullable Elements elements = region.elements();
        return switch (this) {
            case PATH -> region.path();
            case NAME -> region.name();
            case DTYPE -> elements == null ? null : elements.dtype();
            case SHAPE -> elements == null ? null : elements.shape();
            case BYTE_ORDER -> elements == null ? null : elements.byteOrder();
            case ORDER -> elements == null ? null : elements.order();
            case OFFSET -> region.isContiguous() ? region.offset() : null;
            case LENGTH -> region.length();
            case BYTES, HANDLE -> null;
        };
    }

    /** Returns the value as rows of Spark hold it. */
    @Nullable
    Object internal(Region region) {
        Object plain = value(region);
        if (plain instanceof String text) {
            return UTF8String.fromString(text);
        }
        return plain instanceof List<?> list ? new GenericArrayData(list.toArray()) : plain;
    }
}
