// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.host;

import io.penstock.FileOption;
import io.penstock.tck.BackendRules;
import io.penstock.tck.TckSubject;
import org.junit.jupiter.api.Tag;

/** The rules over a pool of blocking calls and O_DIRECT. */
@Tag("variant")
class HostPoolDirectTckTest implements BackendRules {

    @Override
    public TckSubject subject() {
        return HostSubject.pool(FileOption.DIRECT, FileOption.EXCLUSIVE);
    }
}
