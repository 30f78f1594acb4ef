#pragma once

#include <stddef.h>
#include <stdint.h>

/// Returns the CRC-32C (Castagnoli) of `length` bytes, continued from `crc`, the result for the preceding bytes (0 for
/// the first ones). Uses the processor's instruction if there is one. `bytes` may be NULL if `length` is 0.
uint32_t tidelog_crc32c(uint32_t crc, const void *bytes, size_t length);

/// Returns the same result with tables, on every processor. Tests compare both functions.
uint32_t tidelog_crc32c_portable(uint32_t crc, const void *bytes, size_t length);

/// Reserves space for the bytes of the file from `offset` on, including space after its end, without changing its
/// length. Returns 0, or an error number: ENOTSUP or a similar one if the file system does not support it.
int tidelog_reserve(int descriptor, uint64_t offset, uint64_t length);
