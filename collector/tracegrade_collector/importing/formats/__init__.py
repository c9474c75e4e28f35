"""The formats that `import` reads, one module each."""
