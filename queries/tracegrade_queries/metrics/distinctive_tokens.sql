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
    -- Patterns are looked for only where they can be: most texts have many tokens.
    LAMBDA run: CASE
      WHEN contains(run, '.') OR contains(run, ',')
        THEN regexp_replace(
          replace(trim(run, '.'), ',', ''),
          '^([+-]?[0-9]+)(?:\.0+|(\.[0-9]*[1-9])0+)$',
          '\1\2'
        )
      ELSE run
    END
  ),
  LAMBDA token: CASE
    WHEN length(token) = 3 THEN regexp_full_match(token, '[0-9]{3}')
    ELSE length(token) > 3
  END
);
