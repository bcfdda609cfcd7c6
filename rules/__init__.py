"""The built-in rules, one module each. Modules that start with an underscore hold what several rules share."""
