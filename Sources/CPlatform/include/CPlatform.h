#pragma once

#include <stddef.h>
#include <stdint.h>

/// CRC-32C (Castagnoli) of `length` bytes, continued from `crc`, the result for the bytes before them (0 to begin).
/// Uses the processor's instruction where it has one. `bytes` may be NULL where `length` is 0.
uint32_t tidelog_crc32c(uint32_t crc, const void *bytes, size_t length);

/// The same by tables alone, on every processor; the tests hold the two together.
uint32_t tidelog_crc32c_portable(uint32_t crc, const void *bytes, size_t length);

/// Reserves space for the file's bytes from `offset` on, behind its end as well, without changing its length. 0 when the
/// space is there, otherwise the error's number: ENOTSUP or the like where the file system cannot do it.
int tidelog_reserve(int descriptor, uint64_t offset, uint64_t length);
