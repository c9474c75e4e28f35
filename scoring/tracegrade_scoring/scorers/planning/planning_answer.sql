-- The answer to one question about a plan, and its source: people, else the rule, else another
-- verdict.
--
-- met, total, fault: result of the rule; met is NULL where it read no plan. rank, share: of the
-- verdict, NULL if there is none. The parts met of a verdict are its share of 1. Source:
-- docs/metrics.md, section 5.4.
CREATE OR REPLACE TEMP MACRO planning_answer(QUESTION, MET, TOTAL, FAULT, RANK, SHARE) AS
CASE
  WHEN rank = 'verifier' OR (rank IS NOT NULL AND (met IS NULL OR fault IS NOT NULL))
    THEN {
      'met': share,
      'total': 1::BIGINT,
      'share': share,
      'fault': if(share IS NULL, coalesce(fault, 'not_judged: ' || question), NULL),
      'source': rank
    }
  ELSE {
    'met': met,
    'total': total,
    'share': if(met IS NULL OR fault IS NOT NULL, NULL, coalesce(met / nullif(total, 0), 1)),
    'fault': if(met IS NULL, 'not_judged: ' || question, fault),
    'source': 'static'
  }
END;
