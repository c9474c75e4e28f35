"""DuckDB over a lake: connections, the SQL files, relations."""
