"""What the checks of the event service share."""
import subprocess
import sys

faults = []


def say(text):
    print(f"check-events: {text}", file=sys.stderr, flush=True)


def expect(condition, text):
    if not condition:
        say(f"FAULT: {text}")
        faults.append(text)


def run(*words):
    subprocess.run(words, check=True, stdout=subprocess.DEVNULL)
