"""The tests of several processes."""
