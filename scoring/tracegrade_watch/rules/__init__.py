"""The rules of a lake: `watch.yaml`, its format and its checks."""
