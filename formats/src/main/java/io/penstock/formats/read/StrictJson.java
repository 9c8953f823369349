// SPDX-License-Identifier: Apache-2.0
package io.penstock.formats.read;

import com.fasterxml.jackson.core.JsonFactory;
import com.fasterxml.jackson.core.JsonFactoryBuilder;
import com.fasterxml.jackson.core.JsonParser;
import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.core.JsonToken;
import com.fasterxml.jackson.core.StreamReadFeature;
import com.fasterxml.jackson.core.json.JsonReadFeature;
import io.penstock.formats.MalformedFileException;
import java.io.IOException;
import java.math.BigInteger;
import java.nio.ByteBuffer;
import java.nio.CharBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Reads the JSON of a file's metadata from front to back. The bytes must be valid UTF-8, and no object may have a name
 * twice. Complaints have the position in the JSON. Not thread-safe.
 */
final class StrictJson implements AutoCloseable {

    // Names are not kept in the factory: names of one file are of no use to another.
    private static final JsonFactory FACTORY = factory().build();

    // As Python's json module writes them, unless it is told not to.
    private static final JsonFactory WITH_NAN =
            factory().enable(JsonReadFeature.ALLOW_NON_NUMERIC_NUMBERS).build();

    private static JsonFactoryBuilder factory() {
        return (JsonFactoryBuilder) JsonFactory.builder()
                .enable(StreamReadFeature.STRICT_DUPLICATE_DETECTION)
                .disable(JsonFactory.Feature.CANONICALIZE_FIELD_NAMES)
                .disable(JsonFactory.Feature.INTERN_FIELD_NAMES);
    }

    /** Reads the value of a member whose name has been read. */
    interface Member {
        void read(String name) throws IOException;
    }

    /** The JSON value null. */
    static final Object NULL = new Object() {
        @Override
        public String toString() {
            return "null";
        }
    };

    private static final Object END = new Object(); // of an array

    private final Path path;
    private final String format;
    private final JsonParser parser;

    StrictJson(Path path, String format, byte[] json) throws IOException {
        this(path, format, json, FACTORY);
    }

    /** Returns a reader to which {@code NaN}, {@code Infinity} and {@code -Infinity} are numbers. */
    static StrictJson withNaN(Path path, String format, byte[] json) throws IOException {
        return new StrictJson(path, format, json, WITH_NAN);
    }

    private StrictJson(Path path, String format, byte[] json, JsonFactory factory) throws IOException {
        this.path = path;
        this.format = format;
        ByteBuffer bytes = ByteBuffer.wrap(json);
        CharBuffer text;
        try {
            text = StandardCharsets.UTF_8.newDecoder().decode(bytes);
        } catch (CharacterCodingException e) {
            throw new MalformedFileException(
                    path, format, "its JSON is not valid UTF-8 (at byte " + bytes.position() + " of it)");
        }
        parser = factory.createParser(text.array(), text.arrayOffset(), text.remaining());
    }

    /** Reads an object that is all there is. */
    void document(Member member) throws IOException {
        try {
            object("the ", "JSON", member);
            if (parser.nextToken() != null) {
                throw malformed("there is more after the end of the JSON");
            }
        } catch (JsonProcessingException e) {
            throw malformed(e.getOriginalMessage()
                    .replaceAll("(?s)\\s*\\(start marker at .*\\)", "") // of which the rest is on Jackson itself
                    .replaceAll(", from `[^`]*`", ""));
        }
    }

    /**
     * Reads an object, and each of its members by {@code member}, which reads exactly the value.
     *
     * @param what what a complaint calls the object, before its name
     */
    void object(String what, String name, Member member) throws IOException {
        begin(what, name);
        members(member);
    }

    /** As {@link #object}; reads null as an object without members. */
    void objectOrNull(String what, String name, Member member) throws IOException {
        JsonToken token = parser.nextToken();
        if (token == JsonToken.START_OBJECT) {
            members(member);
        } else if (token != JsonToken.VALUE_NULL) {
            throw malformed(what + name + " must be an object");
        }
    }

    private void members(Member member) throws IOException {
        for (String next = next(); next != null; next = next()) {
            member.read(next);
        }
    }

    /** Begins to read an object, whose members are {@link #next}. */
    void begin(String what, String name) throws IOException {
        expect(JsonToken.START_OBJECT, what, name, " must be an object");
    }

    /** Reads the name of the next member of an object, or its end: then returns null. */
    @Nullable
    String next() throws IOException {
        return parser.nextToken() == JsonToken.END_OBJECT ? null : parser.currentName();
    }

    String string(String what, String name) throws IOException {
        expect(JsonToken.VALUE_STRING, what, name, " must be a string");
        return parser.getText();
    }

    /** Reads an array of whole numbers from 0 to 2^63 - 1. */
    List<Long> numbers(String what, String name) throws IOException {
        expect(JsonToken.START_ARRAY, what, name, " must be an array of numbers");
        List<Long> numbers = new ArrayList<>(2);
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            if (token != JsonToken.VALUE_NUMBER_INT) {
                throw malformed(what + name + " must have whole numbers only");
            }
            numbers.add(number(what, name));
        }
        return numbers;
    }

    private long number(String what, String name) throws IOException {
        long number;
        try {
            number = parser.getLongValue();
        } catch (JsonProcessingException e) { // more than 64 bits
            throw malformed(what + name + " has a number that no file can hold");
        }
        if (number < 0) {
            throw malformed(what + name + " has the negative number " + number);
        }
        return number;
    }

    /** Reads any value; returns it as text if it is a string, number or boolean, and otherwise an empty text. */
    String scalarOrSkip() throws IOException {
        JsonToken token = parser.nextToken();
        if (token != null && token.isScalarValue()) {
            return parser.getText();
        }
        parser.skipChildren();
        return "";
    }

    /**
     * Reads an object that is all there is, as a tree of maps, lists, strings, booleans, {@link Long}s, {@link
     * BigInteger}s, doubles and {@link #NULL}. Whole numbers are BigIntegers if a long cannot hold them.
     */
    Map<String, Object> tree() throws IOException {
        Map<String, Object> members = new LinkedHashMap<>();
        document(name -> members.put(name, value()));
        return members;
    }

    private Object value() throws IOException {
        JsonToken token = parser.nextToken();
        if (token == null) {
            throw malformed("its JSON ends early");
        }
        return switch (token) {
            case START_OBJECT -> {
                Map<String, Object> members = new LinkedHashMap<>();
                while (parser.nextToken() != JsonToken.END_OBJECT) {
                    members.put(parser.currentName(), value());
                }
                yield members;
            }
            case START_ARRAY -> {
                List<Object> elements = new ArrayList<>();
                for (Object next = value(); next != END; next = value()) {
                    elements.add(next);
                }
                yield elements;
            }
            case END_ARRAY -> END;
            case VALUE_STRING -> parser.getText();
            case VALUE_TRUE -> true;
            case VALUE_FALSE -> false;
            case VALUE_NULL -> NULL;
            case VALUE_NUMBER_INT ->
                parser.getNumberType() == JsonParser.NumberType.BIG_INTEGER
                        ? parser.getBigIntegerValue()
                        : (Object) parser.getLongValue();
            case VALUE_NUMBER_FLOAT -> parser.getDoubleValue();
            default -> throw malformed("unexpected " + token);
        };
    }

    /** The complaint is put together if there is one only: a file may have many thousand names. */
    private void expect(JsonToken wanted, String what, String name, String complaint) throws IOException {
        if (parser.nextToken() != wanted) {
            throw malformed(what + name + complaint);
        }
    }

    /** Returns an exception with the position after the complaint. */
    MalformedFileException malformed(String complaint) {
        long position = parser.currentLocation().getCharOffset();
        return new MalformedFileException(path, format, complaint + " (at character " + position + " of its JSON)");
    }

    @Override
    public void close() throws IOException {
        parser.close();
    }
}
