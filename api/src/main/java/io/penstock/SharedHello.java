// SPDX-License-Identifier: Apache-2.0
package io.penstock;

import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.UUID;

/**
 * What a member of a shared read tells the host when it comes, or comes back to a new host.
 *
 * @param come how many processes had come, as an earlier host has told it; 0 if there was none
 * @param waitedNanos since its subscription
 * @param states by chunk
 */
record SharedHello(Identity identity, int come, long waitedNanos, ByteBuffer states, Offer offer) {

    private static final int LAYOUT = 0x50534831; // "PSH1"

    static final byte MISSING = 0;
    static final byte READING = 1;
    static final byte SHORT = 2; // there, but the file ended within it
    static final byte WHOLE = 3;

    /**
     * What members must have in common.
     *
     * @param files each file, as the kernel knows it
     * @param regions a digest of what is read of them, and in what chunks
     */
    record Identity(List<String> files, UUID regions) {

        static Identity of(Transfer read, long chunkBytes) throws IOException {
            List<StorageFile> files = new ArrayList<>();
            ByteArrayOutputStream regions = new ByteArrayOutputStream();
            DataOutputStream to = new DataOutputStream(regions);
            to.writeLong(chunkBytes);
            for (int pair = 0; pair < read.pairs(); pair++) {
                StorageFile file = read.fileRegion(pair).file();
                if (!files.contains(file)) {
                    files.add(file);
                }
                to.writeInt(files.indexOf(file));
                to.writeLong(read.fileOffset(pair));
                to.writeLong(read.pairLength(pair));
            }
            return new Identity(
                    files.stream().map(Identity::of).toList(), UUID.nameUUIDFromBytes(regions.toByteArray()));
        }

        private static String of(StorageFile file) {
            BasicFileAttributes known = file.attributes();
            Object key = known.fileKey() == null ? file.uri() : known.fileKey();
            return key + " of " + known.size() + " bytes, modified at " + known.lastModifiedTime();
        }

        /** Returns why a member that has the other one cannot take part. */
        Optional<String> refusal(Identity other) {
            if (!files.equals(other.files)) {
                return Optional.of("all processes must read the same files: the others read " + files
                        + ", this one reads " + other.files);
            }
            return regions.equals(other.regions)
                    ? Optional.empty()
                    : Optional.of("all processes must read the same regions of " + files
                            + " in chunks of the same size: this one reads other regions than the others");
        }
    }

    /** Where the bytes of a pair start: in the buffer of a URI, by its index. */
    record Place(int buffer, long offset) {}

    /**
     * Where others find the bytes.
     *
     * @param places by pair
     */
    record Offer(List<URI> uris, List<Place> places) {

        void write(DataOutputStream to) throws IOException {
            to.writeInt(uris.size());
            for (URI uri : uris) {
                to.writeUTF(uri.toString());
            }
            to.writeInt(places.size());
            for (Place place : places) {
                to.writeInt(place.buffer);
                to.writeLong(place.offset);
            }
        }

        static Offer read(DataInputStream from) throws IOException {
            List<URI> uris = new ArrayList<>();
            for (int left = from.readInt(); left > 0; left--) {
                uris.add(URI.create(from.readUTF()));
            }
            List<Place> places = new ArrayList<>();
            for (int left = from.readInt(); left > 0; left--) {
                places.add(new Place(from.readInt(), from.readLong()));
            }
            return new Offer(uris, places);
        }
    }

    void write(DataOutputStream to) throws IOException {
        to.writeInt(LAYOUT);
        to.writeInt(identity.files.size());
        for (String file : identity.files) {
            to.writeUTF(file);
        }
        to.writeLong(identity.regions.getMostSignificantBits());
        to.writeLong(identity.regions.getLeastSignificantBits());
        to.writeInt(come);
        to.writeLong(waitedNanos);
        to.writeInt(states.capacity());
        for (int chunk = 0; chunk < states.capacity(); chunk++) {
            to.writeByte(states.get(chunk));
        }
        offer.write(to);
    }

    static SharedHello read(DataInputStream from) throws IOException {
        int layout = from.readInt();
        if (layout != LAYOUT) {
            throw new IOException("not a member of a shared read of this version: 0x" + Integer.toHexString(layout));
        }
        List<String> files = new ArrayList<>();
        for (int left = from.readInt(); left > 0; left--) {
            files.add(from.readUTF());
        }
        Identity identity = new Identity(files, new UUID(from.readLong(), from.readLong()));
        int come = from.readInt();
        long waitedNanos = from.readLong();
        ByteBuffer states = ByteBuffer.wrap(from.readNBytes(from.readInt()));
        return new SharedHello(identity, come, waitedNanos, states, Offer.read(from));
    }
}
