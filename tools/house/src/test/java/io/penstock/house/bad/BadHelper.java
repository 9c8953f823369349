// SPDX-License-Identifier: Apache-2.0
package io.penstock.house.bad;

import com.sun.jna.Structure;
import picocli.CommandLine;
import reactor.core.scheduler.Schedulers;

/** Breaks what a class can break outside of the packages that have rules of their own. */
public abstract class BadHelper extends Structure {

    /** A name that describes what it is in Java. */
    public interface IName {}

    abstract CommandLine picocli();

    abstract BadCycle other();

    void print() {
        System.out.println("printed");
        Schedulers.newSingle("thread");
    }
}
