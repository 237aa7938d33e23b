cdef extern from *:
    """
    #if defined(__x86_64__) || defined(_M_X64)
      #if defined(_MSC_VER)
        #include <intrin.h>
        #include <immintrin.h>
        static int spansvm_has_v3(void) {
            int one[4], seven[4];
            __cpuid(one, 0);
            if (one[0] < 7) return 0;
            __cpuid(one, 1);
            __cpuidex(seven, 7, 0);
            /* OSXSAVE, FMA; the system saves the wide registers; AVX2, BMI1, BMI2. */
            return (one[2] >> 27 & 1) && (one[2] >> 12 & 1) && (_xgetbv(0) & 6) == 6
                && (seven[1] >> 5 & 1) && (seven[1] >> 3 & 1) && (seven[1] >> 8 & 1);
        }
      #else
        #include <cpuid.h>
        static int spansvm_has_v3(void) {
            unsigned a, b, c, d, low, high;
            if (!__get_cpuid(1, &a, &b, &c, &d) || !(c >> 27 & 1) || !(c >> 12 & 1)) return 0;
            __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
            if ((low & 6) != 6 || !__get_cpuid_count(7, 0, &a, &b, &c, &d)) return 0;
            return (b >> 5 & 1) && (b >> 3 & 1) && (b >> 8 & 1);
        }
      #endif
    #else
      static int spansvm_has_v3(void) { return 0; }
    #endif
    """
    bint spansvm_has_v3() nogil
