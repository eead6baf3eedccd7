"""What can be served: an index, or an engine. Each is one file."""
