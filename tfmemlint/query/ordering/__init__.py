"""How statements stand to each other: which exclude each other, what always follows, what a condition holds back."""
