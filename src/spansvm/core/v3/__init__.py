"""The loops over rows, built for x86-64-v3: with AVX2 and FMA."""
