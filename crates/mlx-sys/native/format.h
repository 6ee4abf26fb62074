// Why: mlx-c builds its I/O error texts with std::format, which g++ before 13 does not have. Only "{}" is
// used there, so only "{}" is understood here.
#pragma once

#include <version>

#ifdef __cpp_lib_format
#include <format>
#else
#include <sstream>
#include <string>
#include <string_view>

namespace std {

inline string format(string_view text) {
  return string(text);
}

template <typename First, typename... Rest>
string format(string_view text, const First& first, const Rest&... rest) {
  const auto hole = text.find("{}");
  if (hole == string_view::npos) {
    return string(text);
  }
  ostringstream out;
  out << text.substr(0, hole) << first;
  return out.str() + format(text.substr(hole + 2), rest...);
}

} // namespace std
#endif
