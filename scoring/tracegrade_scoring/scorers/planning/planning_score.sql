-- One planning score: parts met of parts there are; met where there are none.
--
-- nothing, fault: as of score_of; only what is scored has a label and a source.
CREATE OR REPLACE TEMP MACRO planning_score(MET, TOTAL, NOTHING, FAULT, LABEL, SOURCE) AS
score_of(
  if(total = 0, 1, met),
  if(total = 0, 1, total),
  nothing,
  fault,
  CASE
    WHEN coalesce(nothing, fault) IS NULL
      THEN coalesce(label, if(total = 0, 'nothing_to_judge', NULL))
  END,
  if(coalesce(nothing, fault) IS NULL, source, NULL)
);
