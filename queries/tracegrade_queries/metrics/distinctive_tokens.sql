-- What in a text can be told again elsewhere: numbers of three digits, and longer names with one.
--
-- Token: a maximal run of [A-Za-z0-9_.@+-], in lower case, without dots around it and thousands
-- separators, 1.0 = 1. Distinctive: a number of three digits, or four characters with a digit or @
-- among them. Source: metrics.md, section 2 (s4).
CREATE OR REPLACE TEMP MACRO distinctive_tokens(CONTENT) AS
list_filter(
  list_transform(
    regexp_extract_all(
      lower(content),
      '[+-]?[0-9]{1,3}(?:,[0-9]{3})+(?:\.[0-9]+)?\b|[a-z_.+-]*[0-9@][a-z0-9_.@+-]*'
    ),
    LAMBDA run: regexp_replace(
      replace(trim(run, '.'), ',', ''), '^([+-]?[0-9]+)(?:\.0+|(\.[0-9]*[1-9])0+)$', '\1\2'
    )
  ),
  LAMBDA token: length(token) >= 4 OR regexp_full_match(token, '[0-9]{3}')
);
