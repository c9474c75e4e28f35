-- One metric of one trajectory, from its parts: not applicable, else an error, else scored.
--
-- nothing: why there is nothing to measure, NULL if there is. fault: why it could not be measured.
-- numerator and denominator count only if both are NULL; label and source are unchanged. A SCORE
-- in the headers of other queries is what this makes. Source: docs/metrics.md, section 0.1.
CREATE OR REPLACE TEMP MACRO score_of(NUMERATOR, DENOMINATOR, NOTHING, FAULT, LABEL, SOURCE) AS {
  'value': if(coalesce(nothing, fault) IS NULL, numerator / denominator, NULL)::DOUBLE,
  'numerator': if(coalesce(nothing, fault) IS NULL, numerator, NULL)::DOUBLE,
  'denominator': if(coalesce(nothing, fault) IS NULL, denominator, NULL)::DOUBLE,
  'status': CASE
    WHEN nothing IS NOT NULL THEN 'not_applicable'
    WHEN fault IS NOT NULL THEN 'error'
    ELSE 'scored'
  END,
  'label': label::VARCHAR,
  'reason': coalesce(nothing, fault)::VARCHAR,
  'source': source::VARCHAR
};
