/* SHA-256 (FIPS 180-4), for keys and checks of the disk cache. */
#ifndef VITRINE_RUN_SHA256_H
#define VITRINE_RUN_SHA256_H
#include <stddef.h>
#include <stdint.h>

typedef struct Sha256 { uint32_t state[8]; uint64_t length; unsigned char block[64]; size_t used; } Sha256;

void sha256_start(Sha256 *hash);
void sha256_add(Sha256 *hash, const void *data, size_t bytes);
void sha256_add_text(Sha256 *hash, const char *text); /* with its NUL, so that fields cannot run together */
void sha256_end(Sha256 *hash, unsigned char digest[32]);
#endif
