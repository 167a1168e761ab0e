"""The tests of graphc; the folders mirror the package."""
