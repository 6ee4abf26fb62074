/* Why: mlx-c names half types only where the ARM compiler has them. Elsewhere its half-precision readers
 * vanish and mlx-rs does not link. MLX stores both formats as 16 bits, so plain integers read them. */
#ifndef EXACTNESS_HALF_H
#define EXACTNESS_HALF_H

#if defined(EXACTNESS_PLAIN_HALF) || \
    !(defined(__aarch64__) || defined(__ARM_FEATURE_FP16_SCALAR_ARITHMETIC))
#define HAS_FLOAT16
typedef unsigned short float16_t;
#endif

#if defined(EXACTNESS_PLAIN_HALF) || !(defined(__aarch64__) || defined(__ARM_FEATURE_BF16))
#define HAS_BFLOAT16
typedef unsigned short bfloat16_t;
#endif

#endif
