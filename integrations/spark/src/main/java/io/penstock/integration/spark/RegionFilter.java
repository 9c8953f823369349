// SPDX-License-Identifier: Apache-2.0
package io.penstock.integration.spark;

import java.util.Arrays;
import java.util.Optional;
import org.apache.spark.sql.connector.expressions.Expression;
import org.apache.spark.sql.connector.expressions.Literal;
import org.apache.spark.sql.connector.expressions.NamedReference;
import org.apache.spark.sql.connector.expressions.filter.Predicate;
import org.apache.spark.unsafe.types.UTF8String;
import org.jspecify.annotations.Nullable;

/** A predicate that Spark pushed down, over the columns that are known before anything is read. */
@FunctionalInterface
interface RegionFilter {

    /** Returns TRUE, FALSE, or null where SQL has NULL. */
    @Nullable
    Boolean test(Region region);

    /** Returns the predicate as a filter; empty if it has to be evaluated by Spark. */
    static Optional<RegionFilter> of(Predicate predicate) {
        Expression[] of = predicate.children();
        return switch (predicate.name()) {
            case "ALWAYS_TRUE" -> Optional.of(region -> true);
            case "ALWAYS_FALSE" -> Optional.of(region -> false);
            case "AND" -> both(of, true);
            case "OR" -> both(of, false);
            case "NOT" -> nested(of[0]).map(one -> region -> not(one.test(region)));
            case "IS_NULL" -> column(of[0]).map(column -> region -> column.value(region) == null);
            case "IS_NOT_NULL" -> column(of[0]).map(column -> region -> column.value(region) != null);
            case "IN" -> in(of);
            default -> compare(predicate.name(), of);
        };
    }

    private static Optional<RegionFilter> nested(Expression expression) {
        return expression instanceof Predicate predicate ? of(predicate) : Optional.empty();
    }

    private static @Nullable Boolean not(@Nullable Boolean value) {
        return value == null ? null : !value;
    }

    /** AND, and OR, which is AND with both values exchanged: as SQL, NULL unless the other side decides. */
    private static Optional<RegionFilter> both(Expression[] of, boolean and) {
        return nested(of[0])
                .flatMap(left -> nested(of[1]).map(right -> region -> {
                    Boolean a = left.test(region);
                    Boolean b = right.test(region);
                    Boolean decides = !and;
                    if (decides.equals(a) || decides.equals(b)) {
                        return decides;
                    }
                    return a == null || b == null ? null : (Boolean) and;
                }));
    }

    private static Optional<RegionFilter> in(Expression[] of) {
        Optional<Column> column = column(of[0]);
        Object[] values =
                Arrays.stream(of, 1, of.length).map(RegionFilter::literal).toArray();
        if (column.isEmpty() || Arrays.asList(values).contains(null)) {
            return Optional.empty();
        }
        return column.map(known -> region -> {
            Object value = known.value(region);
            return value == null ? null : (Boolean) Arrays.asList(values).contains(value);
        });
    }

    private static Optional<RegionFilter> compare(String operator, Expression[] of) {
        if (of.length != 2 || !isKnown(operator)) {
            return Optional.empty();
        }
        Object literal = literal(of[1]);
        if (literal == null) {
            return Optional.empty();
        }
        return column(of[0]).map(column -> region -> {
            Object value = column.value(region);
            if (value == null) {
                return operator.equals("<=>") ? Boolean.FALSE : null;
            }
            return value instanceof String text
                    ? matches(operator, text, (String) literal)
                    : holds(operator, ((Long) value).compareTo((Long) literal));
        });
    }

    private static boolean isKnown(String operator) {
        return switch (operator) {
            case "=", "<=>", "<>", "<", "<=", ">", ">=", "STARTS_WITH", "ENDS_WITH", "CONTAINS" -> true;
            default -> false;
        };
    }

    private static boolean matches(String operator, String text, String literal) {
        return switch (operator) {
            case "STARTS_WITH" -> text.startsWith(literal);
            case "ENDS_WITH" -> text.endsWith(literal);
            case "CONTAINS" -> text.contains(literal);
            default -> holds(operator, UTF8String.fromString(text).compareTo(UTF8String.fromString(literal)));
        };
    }

    private static boolean holds(String operator, int order) {
        return switch (operator) {
            case "<" -> order < 0;
            case "<=" -> order <= 0;
            case ">" -> order > 0;
            case ">=" -> order >= 0;
            case "<>" -> order != 0;
            default -> order == 0;
        };
    }

    private static Optional<Column> column(Expression expression) {
        return expression instanceof NamedReference reference && reference.fieldNames().length == 1
                ? Optional.of(Column.named(reference.fieldNames()[0])).filter(Column::isComparable)
                : Optional.empty();
    }

    /** Returns a String or a Long; null for anything else. */
    private static @Nullable Object literal(Expression expression) {
        if (!(expression instanceof Literal<?> literal)) {
            return null;
        }
        Object value = literal.value();
        return value instanceof UTF8String ? value.toString() : value instanceof Long ? value : null;
    }
}
