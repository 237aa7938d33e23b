"""Kernel functions and Gram matrices: held, in parts, of linear kernels; equal rows."""
