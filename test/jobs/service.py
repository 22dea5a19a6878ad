#!/usr/bin/env python3
"""Transcripts for the uploads of our customers. steno knows each upload by our own id, as its key.

service.py order <upload> <customer> <url> | state <upload> | bill <customer> | event
"""
import json
import os
import subprocess
import sys


def steno(*args):
    """Gives the document; what steno says of a failure is an exception."""
    done = subprocess.run(["steno", *args, "--json"], capture_output=True, text=True)
    if done.returncode:
        raise Failed(json.loads(done.stderr.splitlines()[-1])["error"])
    return json.loads(done.stdout)


class Failed(Exception):
    pass


def order(upload, customer, url):
    """One order for an upload, however many workers try, and after whatever crash."""
    try:
        [file] = steno("order", url, "--key", upload, "--tag", customer, "--sku", "TRANS14", "--or-existing")
    except Failed as failed:
        (error,) = failed.args
        if error.get("reason") in ("unclear", "in_progress"):
            return {"upload": upload, "attempt": error["attempt"]}
        raise
    return {"upload": upload, "audiofile": file["audiofile"]}


def state(upload):
    [file] = steno("files", "--key", upload, "--refresh")
    return {"upload": file["key"], "state": file["state"], "paths": [each["path"] for each in file["downloads"]]}


def bill(customer):
    rows = steno("report", "--by", "tag")["tags"]
    return {"customer": customer, "spent": next((row["spent"] for row in rows if row["tag"] == customer), 0)}


def event():
    """Run by: steno listen --register --download … --exec 'python3 service.py event'"""
    told = {name: os.environ.get(f"STENO_EVENT_{name.upper()}") for name in ("event", "key", "tags")}
    with open("told.jsonl", "a") as file:
        print(json.dumps(told), file=file)
    return told


print(json.dumps({"order": order, "state": state, "bill": bill, "event": event}[sys.argv[1]](*sys.argv[2:])))
