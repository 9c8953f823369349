// SPDX-License-Identifier: Apache-2.0
package io.penstock.engine.host.file;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

class LayersTest {

    private static final List<String> MOUNTS = List.of(
            "1 0 254:0 / / rw,relatime - ext4 /dev/vda rw",
            "2 1 0:30 / /mnt/fuse rw,nosuid shared:5 - fuse.sshfs sshfs rw,user_id=0",
            "3 1 0:31 / /mnt/nfs\\040share rw - nfs4 server:/ rw",
            "4 1 0:32 / /over rw - overlay overlay rw,lowerdir=/var/l2:/mnt/fuse/files,upperdir=/var/up,workdir=/var/work",
            "5 1 0:33 / /nfs rw - overlay overlay rw,lowerdir+=/var/l1,lowerdir+=/mnt/nfs\\040share/a,upperdir=/var/up",
            "6 1 0:34 / /plain rw - overlay overlay rw,lowerdir=/var/l1:/var/l2,upperdir=/var/up,workdir=/var/work");

    @Test
    void aLayerOfAnotherHostIsFound() {
        assertThat(Layers.remote(MOUNTS, "/over/data")).isEqualTo("fuse.sshfs");
        assertThat(Layers.remote(MOUNTS, "/nfs/a/b")).isEqualTo("nfs4");
    }

    @Test
    void layersOnDisksAndThoseOfAContainersHostAreNoOthers() {
        assertThat(Layers.remote(MOUNTS, "/plain/data")).isEmpty();
        assertThat(Layers.remote(
                        List.of(
                                "9 8 0:50 / / rw - overlay overlay rw,lowerdir=/var/lib/docker/l/A:/var/lib/docker/l/B"),
                        "/data"))
                .isEmpty();
    }

    @Test
    void layersThatCannotBeFoundMayBeOnAnotherHost() {
        assertThat(Layers.remote(List.of(), "/data")).isEqualTo(Layers.UNKNOWN);
        assertThat(Layers.remote(MOUNTS, "/detached/data"))
                .as("no overlay is mounted there")
                .isEqualTo(Layers.UNKNOWN);
        String overlay = "7 1 0:34 / /over rw - overlay overlay rw,";
        for (String options : List.of("relatime", "lowerdir=1/fs:2/fs", "lowerdir=/var/l1,upperdir=files")) {
            assertThat(Layers.remote(List.of(MOUNTS.get(0), overlay + options), "/over/data"))
                    .as(options)
                    .isEqualTo(Layers.UNKNOWN);
        }
        assertThat(Layers.remote(List.of(overlay + "lowerdir=/var/l1"), "/over/data"))
                .as("a layer on no mount")
                .isEqualTo(Layers.UNKNOWN);
        assertThat(Layers.remote(-1))
                .as("a descriptor of which no path is known")
                .isEqualTo(Layers.UNKNOWN);
    }

    @Test
    void layersOfDataAloneAreLayers() {
        String overlay = "7 1 0:34 / /over rw - overlay overlay rw,lowerdir=/var/l1::";
        assertThat(Layers.remote(List.of(MOUNTS.get(0), overlay + "/var/l2"), "/over/data"))
                .isEmpty();
        assertThat(Layers.remote(List.of(MOUNTS.get(0), MOUNTS.get(1), overlay + "/mnt/fuse/x"), "/over/data"))
                .isEqualTo("fuse.sshfs");
    }
}
