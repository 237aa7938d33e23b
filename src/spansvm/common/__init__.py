"""What every layer may use: types, checks of arguments, memory, errors, methods, pairs."""
