/* SHA-512 of a piece of memory. */
#ifndef VITRINE_VM_SHA512_H
#define VITRINE_VM_SHA512_H
#include <stddef.h>

void sha512(const void *data, size_t length, unsigned char digest[64]); /* data may be NULL when length is 0 */
#endif
