-- Texts without the blanks or quotes around them.
--
-- `without_blanks` removes blanks (spaces of any kind, as `trim` knows them). Few texts have any,
-- and `trim` reads the whole text to find out, which takes ten times as long. `without_quotes`
-- removes single quotes; a text that lacks one of the two is returned unchanged.
CREATE OR REPLACE TEMP MACRO without_blanks(TEXT) AS
if(regexp_matches(text, '^\p{Zs}') OR regexp_matches(text, '\p{Zs}$'), trim(text), text);

CREATE OR REPLACE TEMP MACRO without_quotes(TEXT) AS
if(
  length(text) > 1 AND starts_with(text, '''') AND ends_with(text, ''''), text[2:-2], text
);
