// Why: a missing or old compiler should be named before 26 files fail one after another.
#if __cplusplus < 202002L
#error "this compiler does not speak C++20"
#endif
#include <concepts>
#include <span>
#include <version>

int exactness_probe(std::span<const int> values) {
  return values.empty() ? 0 : values[0];
}
