// float16: kept as IEEE 754 binary16, computed with as float. Compilers differ in whether C++ has a type of its own.
#pragma once

namespace pk {

// To nearest, ties to even. `float` and integers that fit convert without a loss to the double taken here.
PK_BOTH inline uint16_t half_bits(double value) {
    uint64_t bits;
    std::memcpy(&bits, &value, sizeof bits);
    const uint16_t sign = uint16_t(bits >> 48 & 0x8000);
    bits &= 0x7fffffffffffffff;
    if (bits > 0x7ff0000000000000) {  // NaN, which must not become an infinity
        const uint16_t payload = uint16_t(bits >> 42 & 0x3ff);
        return uint16_t(sign | 0x7c00 | (payload ? payload : 1));
    }
    if (bits >= 0x40effe0000000000) return uint16_t(sign | 0x7c00);  // 65520 and beyond
    if (bits < 0x3f10000000000000) {                                 // below 2^-14: multiples of 2^-24
        double magnitude;
        std::memcpy(&magnitude, &bits, sizeof magnitude);
        const double moved = magnitude + 268435456.0;  // whose last bit is worth 2^-24
        return uint16_t(sign | uint16_t((moved - 268435456.0) * 16777216.0));
    }
    bits += 0x1ffffffffff + (bits >> 42 & 1);
    return uint16_t(sign | ((bits >> 42) - (uint64_t(1008) << 10)));
}

struct half {
    uint16_t bits;

    half() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
    PK_BOTH half(T value) : bits(half_bits(double(value))) {}

    PK_BOTH operator float() const {
        const uint32_t exponent = bits >> 10 & 0x1f, fraction = bits & 0x3ff, sign = uint32_t(bits & 0x8000) << 16;
        if (exponent == 0) return (sign ? -1.0f : 1.0f) * float(fraction) * 5.9604644775390625e-8f;
        const uint32_t whole = sign | (exponent == 31 ? 0x7f800000 : (exponent + 112) << 23) | fraction << 13;
        float value;
        std::memcpy(&value, &whole, sizeof value);
        return value;
    }
    template <class T> PK_BOTH half& operator+=(T value) { return *this = half(float(*this) + value); }
    template <class T> PK_BOTH half& operator-=(T value) { return *this = half(float(*this) - value); }
    template <class T> PK_BOTH half& operator*=(T value) { return *this = half(float(*this) * value); }
    template <class T> PK_BOTH half& operator/=(T value) { return *this = half(float(*this) / value); }
};

template <> PK_BOTH inline half pk_highest<half>() { return half(HUGE_VAL); }
template <> PK_BOTH inline half pk_lowest<half>() { return half(-HUGE_VAL); }

}  // namespace pk
