"""From kept results to a page: `page` fills the template `page.md` with `tables` and links to `pictures`.

Every figure on the page comes from the results; the template holds the words around them and no number.
"""
