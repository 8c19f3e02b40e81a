"""Changes the sources in small ways, one at a time, runs the tests, and lists what no test notices."""
