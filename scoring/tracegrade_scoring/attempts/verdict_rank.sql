-- Rank of a verdict, by its source: verifier (people too) | evaluation | judge.
--
-- verdict_rank: the word before the first colon decides: `judge:answers` is a judge's. Never NULL.
-- rank_order: which is asked first, from 1; of success and sub-goals, people have a rank of their
-- own, human. Source: docs/metrics.md, section 8.3.
CREATE OR REPLACE TEMP MACRO verdict_rank(SOURCE) AS
CASE
  WHEN source = 'gen_ai.evaluation.result' THEN 'evaluation'
  WHEN split_part(coalesce(source, ''), ':', 1) = 'judge' THEN 'judge'
  ELSE 'verifier'
END;

CREATE OR REPLACE TEMP MACRO rank_order(RANK) AS
list_position(['human', 'verifier', 'evaluation', 'judge'], rank);
