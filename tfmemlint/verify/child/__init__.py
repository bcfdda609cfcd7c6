"""What runs in the measured process. It needs the standard library only and imports nothing of the package."""
