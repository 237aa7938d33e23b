"""Downloads from a server on this machine, faults included."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
import zipfile
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from spansvm import datasets
from spansvm.datasets import descriptions, download, files, parsing, readers
from spansvm.datasets.files import PublishedFile

pytest.importorskip("pooch")

CONTENT = b"2 1:1\n1 2:1\n2 1:1 2:1\n1 1:3\n1 2:3\n1 2:4\n"


class Server(ThreadingHTTPServer):
    """Answers each path by a function of the handler, and counts what is asked."""

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Handler)
        self.answers, self.asked = {}, Counter()

    def url(self, path):
        return f"http://127.0.0.1:{self.server_port}/{path}"


class Handler(BaseHTTPRequestHandler):
    def do_GET(self):
        path = self.path.lstrip("/")
        self.server.asked[path] += 1
        self.server.answers[path](self, self.server.asked[path])

    def log_message(self, *_):
        pass


def whole(body):
    def answer(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body)

    return answer


def status(code):
    return lambda handler, _: handler.send_error(code)


def cut(body):
    """Announces the whole body, sends half of it and closes."""

    def answer(handler, _):
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(body)))
        handler.end_headers()
        handler.wfile.write(body[: len(body) // 2])

    return answer


def first(n, fault, then):
    return lambda handler, count: (fault if count <= n else then)(handler, count)


@pytest.fixture
def server(monkeypatch):
    monkeypatch.setattr(download, "FIRST_PAUSE_SECONDS", 0.001)
    # The machine's own proxy must not stand between us and the server.
    monkeypatch.setenv("NO_PROXY", "127.0.0.1")
    with Server() as running:
        thread = threading.Thread(target=running.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        yield running
        running.shutdown()
        thread.join()


@pytest.fixture
def published(server, tmp_path, monkeypatch):
    """Registers mushrooms as a file of the server; returns how to change what is known of it."""
    monkeypatch.delenv("SPANSVM_DATA", raising=False)
    monkeypatch.setenv("SPANSVM_CACHE", str(tmp_path / "cache"))

    def read(contents):
        X, y = readers.read_libsvm(contents[0], 2)
        return parsing.Rows(X, np.where(y == 2, 1.0, -1.0))

    monkeypatch.setitem(parsing.POOLS, "mushrooms", read)
    original = datasets.describe("mushrooms")

    def publish(answer, path="mushrooms", **known):
        known = {"sha256": files._fingerprint(CONTENT), "url": server.url(path), **known}
        server.answers[path] = answer
        small = replace(
            original, n_train=2, n_test=4, n_features=2, n_positive=2,
            files=(PublishedFile("mushrooms/mushrooms", **known),),
        )  # fmt: skip
        monkeypatch.setitem(descriptions.DESCRIPTIONS, "mushrooms", small)

    return publish


def left_in_cache(tmp_path):
    return sorted(p.name for p in (tmp_path / "cache").rglob("*") if p.is_file())


def test_a_file_is_fetched_once_and_loaded_from_the_cache(published, server, tmp_path):
    published(whole(CONTENT))
    places = datasets.fetch("mushrooms")
    assert places == {"mushrooms/mushrooms": tmp_path / "cache/mushrooms/mushrooms"}
    assert datasets.locate("mushrooms") == places
    assert datasets.load("mushrooms").X_train.shape == (2, 2)
    assert datasets.fetch("mushrooms") == places
    assert server.asked["mushrooms"] == 1
    datasets.fetch("mushrooms", force=True)
    assert server.asked["mushrooms"] == 2
    assert left_in_cache(tmp_path) == ["mushrooms", "mushrooms.sha256"]


def test_compressed_files_and_members_of_archives_are_unpacked(published, tmp_path):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("folder/data", CONTENT)
    for answer, known in (
        (whole(gzip.compress(CONTENT)), {"path": "mushrooms.gz"}),
        (whole(archive.getvalue()), {"path": "all.zip", "member": "folder/data"}),
    ):
        published(answer, **known)
        place = datasets.fetch("mushrooms", force=True)["mushrooms/mushrooms"]
        assert place.read_bytes() == CONTENT


def test_what_is_not_there_is_not_asked_for_again(published, server, tmp_path):
    published(status(404))
    with pytest.raises(datasets.DataSetError, match=r"127.0.0.1 answers 404 .*SPANSVM_DATA"):
        datasets.fetch("mushrooms")
    assert server.asked["mushrooms"] == 1
    assert left_in_cache(tmp_path) == []


def test_a_passing_fault_is_survived(published, server):
    published(first(2, status(503), whole(CONTENT)))
    datasets.fetch("mushrooms")
    assert server.asked["mushrooms"] == 3


def test_a_connection_that_is_cut_is_tried_again(published, server):
    published(first(1, cut(CONTENT), whole(CONTENT)))
    place = datasets.fetch("mushrooms")["mushrooms/mushrooms"]
    assert place.read_bytes() == CONTENT
    assert server.asked["mushrooms"] == 2


def test_a_file_that_always_comes_in_part_is_never_stored(published, server, tmp_path):
    published(cut(CONTENT), sha256=None)
    message = "mushrooms could not be downloaded: it did not come whole\\. Try again later"
    with pytest.raises(datasets.DataSetError, match=message):
        datasets.fetch("mushrooms")
    assert server.asked["mushrooms"] == download.ATTEMPTS
    assert left_in_cache(tmp_path) == []


def test_without_a_network_it_is_said_that_there_is_no_connection(published, server, monkeypatch):
    monkeypatch.setattr(download, "ATTEMPTS", 1)
    published(whole(CONTENT), url="http://127.0.0.1:1/mushrooms")
    message = r"mushrooms could not be downloaded: no connection to 127\.0\.0\.1\. Try again"
    with pytest.raises(datasets.DataSetError, match=message):
        datasets.fetch("mushrooms")
    assert server.asked["mushrooms"] == 0


def test_pauses_between_attempts_grow(published, monkeypatch):
    pauses = []
    monkeypatch.setattr(download.time, "sleep", pauses.append)
    monkeypatch.setattr(download, "FIRST_PAUSE_SECONDS", 1.0)
    published(status(503))
    with pytest.raises(datasets.DataSetError, match="503"):
        datasets.fetch("mushrooms")
    assert pauses == [1.0, 2.0, 4.0]


def test_a_server_that_does_not_answer_is_given_up(published, server, monkeypatch):
    monkeypatch.setattr(download, "TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(download, "ATTEMPTS", 2)
    released = threading.Event()
    published(lambda handler, _: released.wait(5))
    try:
        with pytest.raises(datasets.DataSetError, match=r"downloaded: 127.0.0.1 timed out\."):
            datasets.fetch("mushrooms")
    finally:
        released.set()
    assert server.asked["mushrooms"] == 2


@pytest.mark.parametrize(
    ("body", "known", "message"),
    [
        (CONTENT.replace(b"1:3", b"1:4"), {}, "SHA-256"),
        (b"<html>Moved</html>", {"sha256": None}, "not as published"),
        (CONTENT[:-6], {"sha256": None}, "5.*instead of.*6"),
        (gzip.compress(CONTENT)[:-5], {"path": "mushrooms.gz"}, "not a whole gzip file"),
        (b"PK no archive", {"path": "all.zip", "member": "data"}, "not a ZIP archive with data"),
    ],
    ids=["altered", "web page", "row missing", "cut gzip", "broken zip"],
)
def test_what_is_not_the_published_file_is_never_stored(published, tmp_path, body, known, message):
    published(whole(body), **known)
    with pytest.raises(datasets.DataSetError, match=message):
        datasets.fetch("mushrooms")
    assert left_in_cache(tmp_path) == []


@pytest.mark.parametrize("n_done", [0, 1], ids=["before the file", "between file and record"])
def test_what_an_interrupted_download_leaves_is_not_used(published, tmp_path, monkeypatch, n_done):
    published(whole(CONTENT))
    rename, done = os.replace, []

    def die_after(source, target):
        if len(done) == n_done:
            raise KeyboardInterrupt
        done.append(target)
        rename(source, target)

    with monkeypatch.context() as patch:
        patch.setattr(files.os, "replace", die_after)
        with pytest.raises(KeyboardInterrupt):
            datasets.fetch("mushrooms")
    assert datasets.locate("mushrooms") == {"mushrooms/mushrooms": None}
    datasets.fetch("mushrooms")
    assert left_in_cache(tmp_path) == ["mushrooms", "mushrooms.sha256"]


def test_a_file_of_the_cache_that_was_altered_is_fetched_again(published, server):
    published(whole(CONTENT))
    place = datasets.fetch("mushrooms")["mushrooms/mushrooms"]
    place.write_bytes(CONTENT[:-6])
    datasets.fetch("mushrooms")
    assert place.read_bytes() == CONTENT
    assert server.asked["mushrooms"] == 2


def test_an_altered_file_of_the_data_folder_is_reported_and_left_alone(
    published, tmp_path, monkeypatch
):
    published(whole(CONTENT))
    path = tmp_path / "own/mushrooms/mushrooms"
    path.parent.mkdir(parents=True)
    path.write_bytes(CONTENT[:-6])
    monkeypatch.setenv("SPANSVM_DATA", str(tmp_path / "own"))
    with pytest.raises(datasets.DataSetError, match="own/mushrooms/mushrooms is not the published"):
        datasets.fetch("mushrooms")
    assert path.read_bytes() == CONTENT[:-6]


def test_a_stand_in_is_downloaded_where_the_file_itself_is_not_offered(published, server, tmp_path):
    server.answers["today"] = whole(CONTENT)
    stand_in = PublishedFile("elsewhere/today", url=server.url("today"))
    published(status(404), url=None, stand_in=stand_in)
    places = datasets.fetch("mushrooms")
    assert places == {"mushrooms/mushrooms": tmp_path / "cache/elsewhere/today"}
    assert datasets.load("mushrooms").y_test.size == 4


def test_what_no_program_can_download_says_what_to_do_by_hand(monkeypatch, tmp_path):
    monkeypatch.delenv("SPANSVM_DATA", raising=False)
    monkeypatch.setenv("SPANSVM_CACHE", str(tmp_path))
    for ask in (datasets.fetch, datasets.load):
        with pytest.raises(
            datasets.DataSetError, match=r"RAR.*Download it from https.*SPANSVM_DATA"
        ):
            ask("parkinson_speech")


def test_without_pooch_the_error_says_how_to_install_it(published, monkeypatch):
    published(whole(CONTENT))
    monkeypatch.setitem(sys.modules, "pooch", None)
    with pytest.raises(ImportError, match=r"spansvm\[data\]"):
        datasets.fetch("mushrooms")


def test_nothing_is_shown_where_there_is_no_terminal(published, capfd):
    published(whole(CONTENT))
    datasets.fetch("mushrooms")
    assert capfd.readouterr() == ("", "")


@pytest.mark.parametrize(
    ("platform", "variables", "expected"),
    [
        ("linux", {"XDG_CACHE_HOME": "/x"}, "/x/spansvm"),
        ("linux", {}, "/home/someone/.cache/spansvm"),
        ("darwin", {}, "/home/someone/Library/Caches/spansvm"),
        ("win32", {"LOCALAPPDATA": "/local"}, "/local/spansvm/Cache"),
        ("win32", {"SPANSVM_CACHE": "/own"}, "/own"),
    ],
)
def test_the_cache_is_where_the_platform_keeps_such_things(
    monkeypatch, platform, variables, expected
):
    for name in ("SPANSVM_CACHE", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in variables.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(files.sys, "platform", platform)
    monkeypatch.setattr(files.Path, "home", lambda: files.Path("/home/someone"))
    assert files.cache_folder().as_posix() == expected
