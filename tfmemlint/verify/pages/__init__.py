"""What was measured, for people: a table and pages of HTML."""
