"""The only room with a window: disk, network, processes."""
