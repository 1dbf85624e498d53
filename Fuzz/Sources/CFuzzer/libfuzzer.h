// The entry of libFuzzer as a library (https://llvm.org/docs/LibFuzzer.html#using-libfuzzer-as-a-library), for which the
// toolchain has no header. Compiling with -sanitize=fuzzer links it.
#pragma once

#include <stddef.h>
#include <stdint.h>

/// Runs the fuzzer with its own command line; returns its exit code.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*callback)(const uint8_t *data, size_t size));
