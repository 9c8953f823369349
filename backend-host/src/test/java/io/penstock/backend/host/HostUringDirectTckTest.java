// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.FileOption;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.Tag;

/** The rules over io_uring and O_DIRECT. */
@Tag("variant")
class HostUringDirectTckTest implements BackendRules {

    @Override
    public TckSubject subject() {
        return HostSubject.uring(FileOption.DIRECT, FileOption.EXCLUSIVE);
    }
}
