-- Whether finish reasons of a model's answer name a limit of output, turns, steps, time, context
-- or money. Vendors' words are often passed on unchanged.
--
-- finish_reasons: one or several of them, as the trace has them; NULL if it has none.
-- Source: docs/metrics.md, section 3.4.
CREATE OR REPLACE TEMP MACRO names_limit(FINISH_REASONS) AS
regexp_matches(
  lower(finish_reasons),
  'length|max([a-z]*|[_ -][a-z]+)[_ -]?(tokens|turns|steps|iterations)'
  || '|(token|turn|step|iteration|time)s?[_ -]?limit|time.?out|context_window_exceeded'
  || '|max[_ -]budget'
);
