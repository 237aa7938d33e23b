"""Downloads from a server on this computer, faults included."""

from __future__ import annotations

import gzip
import io
import stat
import sys
import threading
import zipfile
from collections import Counter
from dataclasses import replace
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import numpy as np
import pytest

from reproduction import datasets
from reproduction.datasets import catalogue, files, reading
from reproduction.datasets.files import PublishedFile
from reproduction.datasets.loading import read_files

pooch = pytest.importorskip("pooch")

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
    monkeypatch.setattr("pooch.core.time.sleep", lambda _: None)
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
        X, y = reading.read_libsvm(contents[0], 2)
        return reading.Rows(X, np.where(y == 2, 1.0, -1.0))

    monkeypatch.setitem(reading.POOLS, "mushrooms", read)
    original = datasets.describe("mushrooms")

    def publish(answer, path="mushrooms", **known):
        known = {"sha256": files._checksum(CONTENT, text=True), "url": server.url(path), **known}
        server.answers[path] = answer
        small = replace(
            original, n_train=2, n_test=4, n_features=2, n_positive=2,
            files=(PublishedFile("mushrooms/mushrooms", **known),),
        )  # fmt: skip
        monkeypatch.setitem(catalogue.DESCRIPTIONS, "mushrooms", small)

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
    assert left_in_cache(tmp_path) == ["mushrooms"]


def test_compressed_files_and_members_of_archives_are_kept_packed_and_unpacked_when_read(
    published, tmp_path
):
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as packed:
        packed.writestr("folder/data", CONTENT)
    for body, known, suffix in (
        (gzip.compress(CONTENT), {"path": "mushrooms.gz"}, ".gz"),
        (archive.getvalue(), {"path": "all.zip", "member": "folder/data"}, ".zip"),
    ):
        published(whole(body), **known)
        place = datasets.fetch("mushrooms", force=True)["mushrooms/mushrooms"]
        assert place == tmp_path / f"cache/mushrooms/mushrooms{suffix}"
        assert place.read_bytes() == body
        assert read_files("mushrooms") == (CONTENT,)
        place.unlink()


def test_what_is_not_there_is_not_asked_for_again(published, server, tmp_path):
    published(status(404))
    with pytest.raises(datasets.DataSetError, match=r"127.0.0.1 answered 404 .*SPANSVM_DATA"):
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
    published(cut(CONTENT))
    message = "mushrooms could not be downloaded: the transfer was incomplete\\. Try again later"
    with pytest.raises(datasets.DataSetError, match=message):
        datasets.fetch("mushrooms")
    assert server.asked["mushrooms"] == 1 + files.RETRIES
    assert left_in_cache(tmp_path) == []


def test_without_a_network_it_is_said_that_there_is_no_connection(published, server, monkeypatch):
    monkeypatch.setattr(files, "RETRIES", 0)
    published(whole(CONTENT), url="http://127.0.0.1:1/mushrooms")
    message = r"mushrooms could not be downloaded: no connection to 127\.0\.0\.1\. Try again"
    with pytest.raises(datasets.DataSetError, match=message):
        datasets.fetch("mushrooms")
    assert server.asked["mushrooms"] == 0


def test_pauses_between_attempts_grow(published, monkeypatch):
    pauses = []
    monkeypatch.setattr("pooch.core.time.sleep", pauses.append)
    published(status(503))
    with pytest.raises(datasets.DataSetError, match="503"):
        datasets.fetch("mushrooms")
    assert pauses == [1, 2, 3]


def test_a_server_that_does_not_answer_is_given_up(published, server, monkeypatch):
    monkeypatch.setattr(files, "TIMEOUT_SECONDS", 0.05)
    monkeypatch.setattr(files, "RETRIES", 1)
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
        (b"<html>Moved</html>", {}, "not the published"),
        (CONTENT[:-6], {}, "not the published"),
        (gzip.compress(CONTENT)[:-5], {"path": "mushrooms.gz"}, "not a complete gzip file"),
        (b"PK no archive", {"path": "all.zip", "member": "data"}, "not a ZIP archive with data"),
    ],
    ids=["altered", "web page", "row missing", "cut gzip", "broken zip"],
)
def test_what_is_not_the_published_file_is_never_stored(published, tmp_path, body, known, message):
    published(whole(body), **known)
    with pytest.raises(datasets.DataSetError, match=message):
        datasets.fetch("mushrooms")
    assert left_in_cache(tmp_path) == []


@pytest.mark.parametrize("step", ["pooch.core.shutil.move", "pathlib.Path.replace"])
def test_what_an_interrupted_download_leaves_is_not_used(published, tmp_path, monkeypatch, step):
    published(whole(CONTENT))

    def die(*_):
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(step, die)
        with pytest.raises(KeyboardInterrupt):
            datasets.fetch("mushrooms")
    assert datasets.locate("mushrooms") == {"mushrooms/mushrooms": None}
    datasets.fetch("mushrooms")
    assert left_in_cache(tmp_path) == ["mushrooms"]


def test_a_download_that_fails_leaves_the_file_that_was_there(published):
    published(whole(CONTENT))
    place = datasets.fetch("mushrooms")["mushrooms/mushrooms"]
    published(status(404))
    with pytest.raises(datasets.DataSetError, match="404"):
        datasets.fetch("mushrooms", force=True)
    assert place.read_bytes() == CONTENT


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such permissions")
def test_a_cache_can_be_shared(published):
    published(whole(CONTENT))
    place = datasets.fetch("mushrooms")["mushrooms/mushrooms"]
    assert stat.S_IMODE(place.stat().st_mode) == 0o644


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
    known = files._checksum(CONTENT, text=True)
    stand_in = PublishedFile("elsewhere/today", known, url=server.url("today"))
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
    with pytest.raises(ImportError, match=r"spansvm\[reproduction\]"):
        datasets.fetch("mushrooms")
    # Where nothing can have been downloaded, nothing is looked for.
    monkeypatch.delenv("SPANSVM_CACHE")
    assert datasets.locate("mushrooms") == {"mushrooms/mushrooms": None}


def test_nothing_is_shown_where_there_is_no_terminal(published, capfd):
    published(whole(CONTENT))
    datasets.fetch("mushrooms")
    assert capfd.readouterr() == ("", "")


def test_the_cache_is_where_the_platform_keeps_such_things(monkeypatch):
    monkeypatch.delenv("SPANSVM_CACHE", raising=False)
    assert files.cache_folder() == pooch.os_cache("spansvm")
    monkeypatch.setenv("SPANSVM_CACHE", "/own")
    assert files.cache_folder().as_posix() == "/own"
