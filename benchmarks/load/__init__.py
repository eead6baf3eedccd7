"""The service under load, on this machine: throughput, latency, memory, stopping, several processes."""
