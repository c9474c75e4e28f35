-- Texts without what stands around them.
--
-- `without_blanks` takes away blanks (spaces of any kind, as `trim` knows them): few texts have
-- any, and `trim` reads all of a text to find out, ten times as long as this takes.
-- `without_quotes` takes away single quotes; a text that has not both stays as it is.
CREATE OR REPLACE TEMP MACRO without_blanks(TEXT) AS
if(regexp_matches(text, '^\p{Zs}') OR regexp_matches(text, '\p{Zs}$'), trim(text), text);

CREATE OR REPLACE TEMP MACRO without_quotes(TEXT) AS
if(
  length(text) > 1 AND starts_with(text, '''') AND ends_with(text, ''''), text[2:-2], text
);
