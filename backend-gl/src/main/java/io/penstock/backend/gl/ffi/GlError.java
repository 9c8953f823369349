// SPDX-License-Identifier: Apache-2.0
package io.penstock.backend.gl.ffi;

/** The numbers of {@code glGetError} and {@code glGetGraphicsResetStatus}, and their names. */
public final class GlError {
    public static final int NO_ERROR = 0;
    public static final int INVALID_ENUM = 0x0500;
    public static final int INVALID_VALUE = 0x0501;
    public static final int INVALID_OPERATION = 0x0502;
    public static final int OUT_OF_MEMORY = 0x0505;
    public static final int CONTEXT_LOST = 0x0507;
    public static final int GUILTY_CONTEXT_RESET = 0x8253;
    public static final int INNOCENT_CONTEXT_RESET = 0x8254;
    public static final int UNKNOWN_CONTEXT_RESET = 0x8255;

    private GlError() {}

    /** Returns the name of an error; an empty string if unknown. */
    public static String symbol(int error) {
        return switch (error) {
            case NO_ERROR -> "GL_NO_ERROR";
            case INVALID_ENUM -> "GL_INVALID_ENUM";
            case INVALID_VALUE -> "GL_INVALID_VALUE";
            case INVALID_OPERATION -> "GL_INVALID_OPERATION";
            case 0x0503 -> "GL_STACK_OVERFLOW";
            case 0x0504 -> "GL_STACK_UNDERFLOW";
            case OUT_OF_MEMORY -> "GL_OUT_OF_MEMORY";
            case 0x0506 -> "GL_INVALID_FRAMEBUFFER_OPERATION";
            case CONTEXT_LOST -> "GL_CONTEXT_LOST";
            case GUILTY_CONTEXT_RESET -> "GL_GUILTY_CONTEXT_RESET";
            case INNOCENT_CONTEXT_RESET -> "GL_INNOCENT_CONTEXT_RESET";
            case UNKNOWN_CONTEXT_RESET -> "GL_UNKNOWN_CONTEXT_RESET";
            case Gl.GL_WAIT_FAILED -> "GL_WAIT_FAILED"; // returned by glClientWaitSync, in place of an error
            default -> "";
        };
    }
}
