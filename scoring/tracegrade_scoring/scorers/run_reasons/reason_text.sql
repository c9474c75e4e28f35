-- A text of a trace on one line, without characters that act on a terminal or are not seen.
CREATE OR REPLACE TEMP MACRO one_line(GIVEN) AS
trim(regexp_replace(given, '[\p{C}\p{Z}\s]+', ' ', 'g'));

-- A text of at most so many characters; the last of one that is cut is an ellipsis.
CREATE OR REPLACE TEMP MACRO clipped(GIVEN, LENGTH) AS
if(length(given) > length, left(given, length - 1) || '…', given);

-- The start of what a failed call returned: its message if it is JSON that has one, else the text.
CREATE OR REPLACE TEMP MACRO error_line(GIVEN) AS
nullif(
  one_line(
    coalesce(
      nullif(
        regexp_extract(
          left(given, 400), '"(?:error|message|detail|reason|msg)"\s*:\s*"((?:[^"\\]|\\.)*)', 1
        ),
        ''
      ),
      left(given, 400)
    )
  ),
  ''
);
