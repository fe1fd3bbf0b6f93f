"""A server that answers as OpenML does, for one data set."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import md5
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import attrs
import pandas as pd

API = "/api/v1/json/data"


@attrs.define
class Answers:
    """What the server says of a data set, and what it was asked."""

    number: int
    frame: pd.DataFrame
    checksum: str | None = None
    asked: list[str] = attrs.field(factory=list)
    address: str = ""

    def arff(self) -> bytes:
        """Return the rows as OpenML stores them: gaps are question marks."""
        lines = ["@RELATION data"]
        for name in self.frame:
            kind = "REAL"
            if not pd.api.types.is_numeric_dtype(self.frame[name]):
                kind = "{" + ",".join(sorted(self.frame[name].dropna().unique())) + "}"
            lines.append(f"@ATTRIBUTE '{name}' {kind}")
        rows = self.frame.to_csv(index=False, header=False, na_rep="?", lineterminator="\n")
        return ("\n".join([*lines, "@DATA"]) + "\n" + rows).encode()

    def answer(self, path: str) -> bytes | None:
        """Return the answer to a path, None where there is none."""
        answers = {
            f"{API}/{self.number}": {"data_set_description": self._description()},
            f"{API}/features/{self.number}": {"data_features": {"feature": self._features()}},
            f"{API}/qualities/{self.number}": {
                "data_qualities": {
                    "quality": [{"name": "NumberOfInstances", "value": f"{len(self.frame)}.0"}]
                }
            },
        }
        if path == f"/data/v1/download/{self.number}/data.arff":
            return self.arff()
        return json.dumps(answers[path]).encode() if path in answers else None

    def _description(self) -> dict[str, str]:
        return {
            "id": str(self.number),
            "name": "data",
            "description": "Random numbers.",
            "version": "1",
            "format": "ARFF",
            "status": "active",
            "file_id": str(self.number),
            "url": f"{self.address}/data/v1/download/{self.number}/data.arff",
            "md5_checksum": self.checksum or md5(self.arff()).hexdigest(),
        }

    def _features(self) -> list[dict[str, str]]:
        columns = list(self.frame)
        return [
            {
                "index": str(place),
                "name": name,
                "data_type": "numeric"
                if pd.api.types.is_numeric_dtype(self.frame[name])
                else "nominal",
                "is_target": str(name == columns[-1]).lower(),
                "is_ignore": "false",
                "is_row_identifier": str(name == "row").lower(),
                "number_of_missing_values": str(int(self.frame[name].isna().sum())),
            }
            for place, name in enumerate(columns)
        ]


@contextmanager
def serving(answers: Answers) -> Iterator[None]:
    """Serve answers on a free port of this machine, which is then their address."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            answers.asked.append(self.path)
            content = answers.answer(self.path)
            self.send_response(404 if content is None else 200)
            self.send_header("Content-Length", str(len(content or b"")))
            self.end_headers()
            self.wfile.write(content or b"")

        def log_message(self, *_: object) -> None:
            """Say nothing."""

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        answers.address = f"http://127.0.0.1:{server.server_address[1]}"
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
        thread.start()
        try:
            yield
        finally:
            server.shutdown()
            thread.join()
