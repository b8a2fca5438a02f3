"""IBM System/360 single precision, the sample format 1 of SEG-Y: sign, exponent of 16 with excess 64, 24 bits of fraction."""
import numpy as np


def from_ieee(values):
    """float32 array -> big-endian uint32 array of IBM floats, rounded to nearest. Every finite float32 fits."""
    values = np.asarray(values, np.float32)
    fraction, exponent = np.frexp(values.astype(np.float64))            # |value| = fraction * 2**exponent, 0.5 <= fraction < 1
    sixteens = (exponent + 3) // 4                                      # = fraction * 2**(exponent - 4*sixteens) * 16**sixteens
    digits = np.rint(np.ldexp(np.abs(fraction), exponent - 4 * sixteens + 24)).astype(np.int64)
    carried = digits == 1 << 24                                         # rounded up to the next power of 16
    digits = np.where(carried, 1 << 20, digits)
    sixteens = np.where(carried, sixteens + 1, sixteens)
    words = (np.signbit(values).astype(np.int64) << 31) | (sixteens + 64 << 24) | digits
    return np.where(digits == 0, 0, words).astype('>u4')
