-- A metric over time, by release: its mean over the runs that were received on each date.
--
-- Reads:
--   matching_runs
-- Parameters:
--   $days  BIGINT  Days of one part of time: 1, or 7.
-- Columns:
--   date      DATE     The first date of a part of time. One row for each and release.
--   release   VARCHAR  NULL if not sent.
--   runs      BIGINT   At least 1.
--   measured  BIGINT   Of these, with a value.
--   mean      DOUBLE   Of the values, each counted once; NULL without any.
--   spread    DOUBLE   Standard error of the mean; NULL for less than two values.
-- Order:
--   date, release
SELECT
  (
    matching_runs.date - (epoch(matching_runs.date)::BIGINT // 86400 % $days)::INTEGER
  )::DATE AS date,
  release::VARCHAR AS release,
  count(*) AS runs,
  count(measured) AS measured,
  avg(measured) AS mean,
  stddev_samp(measured) / sqrt(count(measured)) AS spread
FROM matching_runs
GROUP BY ALL
ORDER BY date, release;
