// Why: mlx-rs seeds its random state from mach_approximate_time, which only Apple systems have. A coarse
// monotonic count is all that is asked of it.
#ifndef __APPLE__
#include <chrono>
#include <cstdint>

extern "C" std::uint64_t mach_approximate_time() {
  const auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration_cast<std::chrono::nanoseconds>(now).count();
}
#endif
