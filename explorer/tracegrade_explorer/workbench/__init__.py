"""The SQL workbench: a lake's tables, saved queries, results as tables and pictures, mistakes."""
