"""What was measured, for people: a table, pages of HTML, pictures."""
