-- Distance that separates groups of positions: more than a model call has messages or parts.
CREATE OR REPLACE TEMP MACRO position_gap() AS 1_000_000;
