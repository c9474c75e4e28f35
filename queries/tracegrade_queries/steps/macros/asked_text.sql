-- What a user asked as text: content blocks in its place are lines, all else is as it was sent.
--
-- The blocks are a list as JSON, or as Python prints it; Agno prints the whole message around it.
-- Of what DSPy's modules are given, as Python prints it, the first text counts.
CREATE OR REPLACE TEMP MACRO asked_text(ASKED) AS
CASE
  WHEN regexp_matches(asked, '^\[\{"type":\s*"(input_)?text"') THEN result_text(asked)
  WHEN
    regexp_matches(
      asked,
      '^(id=\x27[^\x27]*\x27 role=\x27user\x27 content=)?'
      '\[\{\x27type\x27: \x27(input_)?text\x27, \x27text\x27: [\x27"]'
    )
    THEN array_to_string(
      list_transform(
        regexp_extract_all(
          asked, '\x27text\x27: (\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*")', 1
        ),
        LAMBDA printed:
        regexp_replace(replace(printed[2:-2], '\n', chr(10)), '\\([\x27"\\])', '\1', 'g')
      ),
      chr(10)
    )
  WHEN regexp_matches(asked, '^id=\x27[^\x27]*\x27 role=\x27user\x27 content=[\x27"]')
    THEN regexp_extract(
      asked, '(?s) role=\x27user\x27 content=[\x27"](.*?)[\x27"] compressed_content=', 1
    )
  WHEN regexp_matches(asked, '^\{\x27\w+\x27: [\x27"]') AND ends_with(asked, '}')
    THEN coalesce(
      regexp_replace(
        replace(
          regexp_extract(
            asked, '^\{\x27\w+\x27: (\x27(?:[^\x27\\]|\\.)*\x27|"(?:[^"\\]|\\.)*")[,}]', 1
          )[2:-2],
          '\n',
          chr(10)
        ),
        '\\([\x27"\\])', '\1', 'g'
      ),
      asked
    )
  ELSE asked
END;
