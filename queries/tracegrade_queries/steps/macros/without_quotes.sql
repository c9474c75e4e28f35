-- A text without the single quotes around it; one that has not both stays as it is.
CREATE OR REPLACE TEMP MACRO without_quotes(TEXT) AS
if(
  length(text) > 1 AND starts_with(text, '''') AND ends_with(text, ''''), text[2:-2], text
);
