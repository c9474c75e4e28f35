"""The file-processing agent of the demo: a real program on real files, in two releases."""
