-- A text without the blanks around it (spaces of any kind, as `trim` knows them).
--
-- Few texts have any, and `trim` reads all of a text to find out: ten times as long as this takes.
CREATE OR REPLACE TEMP MACRO without_blanks(TEXT) AS
if(regexp_matches(text, '^\p{Zs}') OR regexp_matches(text, '\p{Zs}$'), trim(text), text);
