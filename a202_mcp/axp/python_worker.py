"""Run the owner's Python callable as a worker: `python python_worker.py FOLDER module:name` (spec 7.2).

Standard library only, since it is run by its path in an environment without secrets. The job comes as JSON on standard
input; the module is looked up in FOLDER first. What the callable prints goes to standard error; what it returns, a
text or an object with `content`, goes to standard output as JSON.
"""

from __future__ import annotations

import importlib
import json
import os
import sys


def main() -> int:
    """Run one job; the exit status."""
    folder, named = sys.argv[1:3]
    module, _, name = named.partition(":")
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    sys.path.insert(0, folder)
    job = json.loads(sys.stdin.buffer.read().decode("utf-8"))
    result = getattr(importlib.import_module(module), name)(job)
    json.dump({"content": result} if isinstance(result, str) else dict(result), answers)
    answers.close()
    return 0


if __name__ == "__main__":
    sys.exit(main())
