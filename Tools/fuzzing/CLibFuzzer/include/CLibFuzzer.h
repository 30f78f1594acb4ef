#pragma once
#include <stddef.h>
#include <stdint.h>

// What libFuzzer's library form offers; `Tools/fuzz` links the library.
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*run)(const uint8_t *bytes, size_t count));
