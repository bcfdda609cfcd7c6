"""Running programs that nobody vouches for: contained, watched, measured, and ended with all that they started."""
