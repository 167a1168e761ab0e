"""The figures of the documentation. ``python -m docs.figures`` draws all of them anew, by name those that are given."""
