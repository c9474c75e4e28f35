-- Who answers one question about a plan, and how: people, else the rule, else another verdict.
--
-- kept, total, fault: what the rule says; kept is NULL where it read no plan. rank, share: of the
-- verdict, NULL if there is none. The parts kept of a verdict are its share of 1.
-- Source: docs/metrics.md, section 5.4.
CREATE OR REPLACE TEMP MACRO planning_answer(QUESTION, KEPT, TOTAL, FAULT, RANK, SHARE) AS
CASE
  WHEN rank = 'verifier' OR (rank IS NOT NULL AND (kept IS NULL OR fault IS NOT NULL))
    THEN {
      'kept': share,
      'total': 1::BIGINT,
      'share': share,
      'fault': if(share IS NULL, coalesce(fault, 'not_judged: ' || question), NULL),
      'source': rank
    }
  ELSE {
    'kept': kept,
    'total': total,
    'share': if(kept IS NULL OR fault IS NOT NULL, NULL, coalesce(kept / nullif(total, 0), 1)),
    'fault': if(kept IS NULL, 'not_judged: ' || question, fault),
    'source': 'static'
  }
END;
