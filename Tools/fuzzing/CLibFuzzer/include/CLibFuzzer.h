#pragma once
#include <stddef.h>
#include <stdint.h>

// The entry point of libFuzzer as a library, which `Tools/fuzz` links.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t count));
