"""Pages of HTML that need nothing but themselves, and the pictures in them: what all pages share."""
