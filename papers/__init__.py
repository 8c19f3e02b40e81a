"""Published experiments, and the published numbers beside ours."""
