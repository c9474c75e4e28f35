-- How far positions are moved apart from others: more than a model call has messages or parts.
CREATE OR REPLACE TEMP MACRO position_gap() AS 1_000_000;
