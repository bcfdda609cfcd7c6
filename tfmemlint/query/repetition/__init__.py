"""What runs again and again, how often, and what is another in each iteration or the same."""
