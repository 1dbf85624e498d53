"""Checks the metrics with Prometheus' own tools: their text, that a Prometheus reads them, and the queries of the dashboard."""
import json
import os
import pathlib
import re
import subprocess
import time
import urllib.error
import urllib.parse
import urllib.request

from report import expect, say

SERVICE = "127.0.0.1:8787"
PROMETHEUS = "127.0.0.1:9090"
DOCUMENTS = pathlib.Path(__file__).resolve().parent.parent.parent / "docs"


def promtool(*arguments, text=None):
    """Runs promtool, and says what it finds."""
    outcome = subprocess.run(["promtool", *arguments], input=text, capture_output=True, text=True)
    expect(outcome.returncode == 0 and not outcome.stderr, f"promtool {' '.join(arguments)}: {outcome.stdout}{outcome.stderr}")


def query(expression):
    """The series of a query; none while Prometheus cannot be reached."""
    address = f"http://{PROMETHEUS}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
    try:
        with urllib.request.urlopen(address) as response:
            return json.load(response)["data"]["result"]
    except urllib.error.HTTPError as error:
        # While it starts, Prometheus is not available.
        expect(error.code == 503, f"{expression}: {error.read().decode()}")
    except OSError:
        pass
    return []


def wait(expression, value, text):
    """Waits until a query has one series with a value."""
    deadline = time.monotonic() + 30
    while time.monotonic() < deadline:
        series = query(expression)
        if [one["value"][1] for one in series] == [value]:
            return
        time.sleep(0.1)
    expect(False, f"within 30 s, {text}: {query('netwatch_state')}")


def has_series(expression):
    """Whether a query has a result, at the latest after some more readings: an increase takes two."""
    deadline = time.monotonic() + 30
    while not query(expression):
        if time.monotonic() > deadline:
            return False
        time.sleep(0.2)
    return True


def check_documents(directory):
    """Checks what the pages have for Prometheus and Grafana."""
    blocks = re.findall(r"^```yaml\n(.*?)^```$", (DOCUMENTS / "events.md").read_text(), re.M | re.S)
    for name, block in zip(("config", "rules"), blocks, strict=True):
        path = f"{directory}/{name}.yml"
        pathlib.Path(path).write_text(block)
        promtool("check", name, path)
    dashboard = json.loads((DOCUMENTS / "grafana.json").read_text())
    # The machines are the values of a label.
    metric, label = re.fullmatch(r"label_values\((\w+), (\w+)\)", dashboard["templating"]["list"][1]["query"]["query"]).groups()
    machines = {one["metric"].get(label) for one in query(metric)}
    expect(machines == {SERVICE}, f"the dashboard's machines are {machines}")
    values = {"$instance": SERVICE, "$__range": "1h", "$__rate_interval": "1m"}
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            expression = target["expr"]
            for name, value in values.items():
                expression = expression.replace(name, value)
            expect(has_series(expression), f"the panel '{panel['title']}' shows something")


def check(machine, metrics_file, directory):
    """Checks the metrics of a running service."""
    with urllib.request.urlopen(f"http://{SERVICE}/metrics") as response:
        promtool("check", "metrics", text=response.read().decode())
    promtool("check", "metrics", text=pathlib.Path(metrics_file).read_text())
    config = f"{directory}/prometheus.yml"
    pathlib.Path(config).write_text(
        "scrape_configs: [{job_name: netwatch, scrape_interval: 200ms, scrape_timeout: 200ms,"
        f" static_configs: [{{targets: ['{SERVICE}']}}]}}]\n"
    )
    prometheus = subprocess.Popen(
        ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={directory}/data",
         f"--web.listen-address={PROMETHEUS}", "--log.level=error"],
        env={**os.environ, "HOME": directory},
    )
    try:
        wait('netwatch_state{state="wifi"}', "1", "Prometheus reads wifi")
        machine.lose_all()
        wait('netwatch_state{state="notReachable"}', "1", "Prometheus reads that the network is not reachable")
        wait("netwatch_outages_total", "1", "Prometheus counts the outage")
        machine.restore()
        wait('netwatch_state{state="wifi"}', "1", "Prometheus reads wifi again")
        check_documents(directory)
        say("Prometheus reads the metrics, and answers the queries of the dashboard")
    finally:
        prometheus.terminate()
        prometheus.wait()
