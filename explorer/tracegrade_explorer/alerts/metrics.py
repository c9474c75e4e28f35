"""`/metrics`: the lake's scores and alerts in Prometheus' text format."""

from tracegrade_explorer.alerts.page import known_alerts
from tracegrade_explorer.errors import BadFilter
from tracegrade_explorer.issues.known import known_issues
from tracegrade_explorer.responses import PageRequest, PageResponse, PlainText
from tracegrade_watch.outputs.exported import samples, scoring_lag
from tracegrade_watch.outputs.prometheus import prometheus_text


def metrics(request: PageRequest) -> PageResponse:
    """Return what `tracegrade watch --prometheus` writes, with the evidence of alerts alone.

    Raises:
        BadFilter: The address has a parameter.
    """
    if request.pairs:
        msg = f"{request.pairs[0][0]} is not known here; the page has all metrics"
        raise BadFilter(msg)
    lag = scoring_lag(request.snapshot.lake)
    counted = "FROM counted_release_scores"
    request.con.execute(f"CREATE OR REPLACE TEMP VIEW release_scores AS {counted}")
    found = samples(request.con, known_alerts(request), (), known_issues(request), lag)
    return PlainText(prometheus_text(found))
