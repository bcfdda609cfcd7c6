"""From findings to programs that can be measured before and after a repair."""
