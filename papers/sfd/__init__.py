"""SFD: Chen and Heidemann, 2001."""
