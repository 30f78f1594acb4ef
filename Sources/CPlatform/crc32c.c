#include "CPlatform.h"

#include <pthread.h>
#include <string.h>

#if defined(__aarch64__) && defined(__linux__)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

// Reflected form of the Castagnoli polynomial 0x1EDC6F41.
#define POLYNOMIAL 0x82F63B78u

static uint32_t tables[8][256];
static pthread_once_t tables_once = PTHREAD_ONCE_INIT;

static void make_tables(void) {
    for (uint32_t i = 0; i < 256; i++) {
        uint32_t crc = i;
        for (int bit = 0; bit < 8; bit++) {
            crc = (crc >> 1) ^ (POLYNOMIAL & (0u - (crc & 1u)));
        }
        tables[0][i] = crc;
    }
    for (uint32_t i = 0; i < 256; i++) {
        for (int slice = 1; slice < 8; slice++) {
            uint32_t before = tables[slice - 1][i];
            tables[slice][i] = (before >> 8) ^ tables[0][before & 0xFF];
        }
    }
}

uint32_t tidelog_crc32c_portable(uint32_t crc, const void *bytes, size_t length) {
    pthread_once(&tables_once, make_tables);
    const uint8_t *at = bytes;
    crc = ~crc;
    while (length >= 8) {
        // Byte by byte, so that the result does not depend on the byte order. Compilers combine the loads.
        uint32_t low = crc ^ ((uint32_t)at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24);
        crc = tables[7][low & 0xFF] ^ tables[6][(low >> 8) & 0xFF] ^ tables[5][(low >> 16) & 0xFF] ^
              tables[4][low >> 24] ^ tables[3][at[4]] ^ tables[2][at[5]] ^ tables[1][at[6]] ^ tables[0][at[7]];
        at += 8;
        length -= 8;
    }
    while (length--) {
        crc = (crc >> 8) ^ tables[0][(crc ^ *at++) & 0xFF];
    }
    return ~crc;
}

#if defined(__x86_64__)

__attribute__((target("sse4.2")))
static uint32_t crc32c_hardware(uint32_t crc, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    uint64_t wide = (uint32_t)~crc;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        wide = __builtin_ia32_crc32di(wide, word);
        at += 8;
        length -= 8;
    }
    uint32_t narrow = (uint32_t)wide;
    while (length--) {
        narrow = __builtin_ia32_crc32qi(narrow, *at++);
    }
    return ~narrow;
}

static int has_hardware(void) { return __builtin_cpu_supports("sse4.2"); }

#elif defined(__aarch64__)

__attribute__((target("crc")))
static uint32_t crc32c_hardware(uint32_t crc, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    crc = ~crc;
    while (length >= 8) {
        uint64_t word;
        memcpy(&word, at, 8);
        crc = __builtin_arm_crc32cd(crc, word);
        at += 8;
        length -= 8;
    }
    while (length--) {
        crc = __builtin_arm_crc32cb(crc, *at++);
    }
    return ~crc;
}

#if defined(__linux__)
static int has_hardware(void) { return (getauxval(AT_HWCAP) & HWCAP_CRC32) != 0; }
#else
// Every Apple processor of this architecture has the instruction.
static int has_hardware(void) { return 1; }
#endif

#else

static uint32_t crc32c_hardware(uint32_t crc, const void *bytes, size_t length) {
    return tidelog_crc32c_portable(crc, bytes, length);
}

static int has_hardware(void) { return 0; }

#endif

uint32_t tidelog_crc32c(uint32_t crc, const void *bytes, size_t length) {
    return has_hardware() ? crc32c_hardware(crc, bytes, length) : tidelog_crc32c_portable(crc, bytes, length);
}
