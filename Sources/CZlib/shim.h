#pragma once
#include <zlib.h>

/* A macro with arguments, which Swift does not see: windowBits + 32 takes zlib's and gzip's headers, and tells them apart. */
static inline int netwatch_inflate_init(z_stream *stream, int windowBits) {
    return inflateInit2(stream, windowBits);
}

/* The same for the tests, which compress. */
static inline int netwatch_deflate_init(z_stream *stream, int level, int windowBits) {
    return deflateInit2(stream, level, Z_DEFLATED, windowBits, 8, Z_DEFAULT_STRATEGY);
}
