"""Where values go: through names, containers, attributes and functions; what stores them, and who reads them."""
