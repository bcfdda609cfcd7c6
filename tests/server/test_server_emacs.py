"""Emacs as a client, with Eglot and with lsp-mode, set up as docs/editors.md says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from rpc import PREFETCH

EMACS = shutil.which("emacs")
DOCS = Path(__file__).parents[2] / "docs" / "editors.md"
TEXT = PREFETCH.format(before="x = '😀'; ")
PACKAGES = "/usr/share/emacs/site-lisp/elpa"
"""Where Debian's packages lie, for an Emacs that is started without any configuration."""

COMMON = """;; -*- lexical-binding: t; coding: utf-8 -*-
(require 'json)
(require 'package)
(add-to-list 'package-directory-list "PACKAGES")
(setq package-user-dir (expand-file-name "packages"))
(package-initialize)
(unless (require 'CLIENT nil t) (kill-emacs 77))
(load-file "setup.el")

(defun wait-until (what test)
  (let ((end (+ (float-time) 120)))
    (while (not (funcall test))
      (when (> (float-time) end) (error "%s did not come" what))
      (accept-process-output nil 0.05))))

(defun repaired-text ()
  (wait-until "the repair" (lambda () (not (string-match-p "1000" (buffer-string)))))
  (buffer-string))

(defun tell (&rest answers)
  (let ((coding-system-for-write 'utf-8)) (write-region (json-encode answers) nil "out.json")))

(find-file "train.py")
"""

EGLOT = """
(setq eglot-sync-connect 120 eglot-connect-timeout 120)
(eglot-ensure)
(run-hooks 'post-command-hook)
(flymake-start)
(wait-until "a finding" #'flymake-diagnostics)
(let* ((found (car (flymake-diagnostics)))
       (start (flymake-diagnostic-beg found))
       (marked (buffer-substring start (flymake-diagnostic-end found)))
       (last-nonmenu-event ?k) ; or a menu of the mouse is asked
       (titles nil))
  (goto-char start)
  (cl-letf* ((hover nil)
             ((symbol-function 'completing-read)
              (lambda (_prompt choices &rest _)
                (setq titles (mapcar #'car choices))
                (seq-find (lambda (title) (string-match-p "buffer" title)) titles))))
    (eglot-hover-eldoc-function (lambda (shown &rest _) (setq hover (substring-no-properties shown))))
    (wait-until "a hover" (lambda () hover))
    (eglot-code-actions start nil nil t)
    (tell :marked marked :type (format "%s" (flymake-diagnostic-type found)) :message (flymake-diagnostic-text found)
          :hover hover :titles (vconcat titles) :text (repaired-text)))
  (save-buffer)
  (wait-until "the end of the finding" (lambda () (null (flymake-diagnostics)))))
(goto-char (point-min))
(search-forward "tf.data.AUTOTUNE")
(replace-match "1000")
(save-buffer)
(unless (string-match-p "AUTOTUNE" (buffer-string)) (error "not repaired when it was saved"))
"""

LSP_MODE = """
(setq lsp-auto-guess-root t lsp-enable-snippet nil lsp-diagnostics-provider :none
      lsp-response-timeout 120 lsp-session-file (expand-file-name "session"))
(defun findings () (apply #'append (hash-table-values (lsp-diagnostics))))
(lsp)
(wait-until "a finding" #'findings)
(let* ((found (car (findings)))
       (range (lsp--range-to-region (lsp-get found :range)))
       (position (progn (goto-char (car range)) (lsp--text-document-position-params)))
       (hover (lsp-request "textDocument/hover" position))
       (actions (append (lsp-code-actions-at-point) nil)))
  (lsp-execute-code-action
   (seq-find (lambda (action) (string-match-p "buffer" (lsp-get action :title))) actions))
  (tell :marked (buffer-substring (car range) (cdr range)) :type (format "%s" (lsp-get found :severity))
        :message (lsp-get found :message) :hover (lsp-get (lsp-get hover :contents) :value)
        :titles (vconcat (mapcar (lambda (action) (lsp-get action :title)) actions)) :text (repaired-text)))
(wait-until "the end of the finding" (lambda () (null (findings))))
"""


def driven(folder: Path, client: str, script: str) -> dict[str, Any]:
    """What Emacs with a client has seen and done in `train.py`."""
    blocks = re.findall(r"^```elisp\n(.*?)^```", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    ours = [block for block in blocks if f"'{client}\n" in block or f"({client}-" in block]
    assert ours
    (folder / "setup.el").write_text("".join(ours))
    begin = COMMON.replace("PACKAGES", PACKAGES).replace("CLIENT", client)
    (folder / "script.el").write_text(begin + script, "utf-8")
    (folder / "train.py").write_text(TEXT, "utf-8")
    (folder / ".git").mkdir()
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(folder), "PATH": path, "LC_ALL": "C.UTF-8"}
    done = subprocess.run(
        [str(EMACS), "-Q", "--batch", "-l", "script.el"],
        cwd=folder, env=environment, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL,
    )  # fmt: skip
    if done.returncode == 77:
        pytest.skip(f"{client} is not installed (Debian: apt-get install elpa-{client})")
    assert done.returncode == 0, done.stderr
    out: dict[str, Any] = json.loads((folder / "out.json").read_text("utf-8"))
    return out


@pytest.mark.skipif(EMACS is None, reason="Emacs is not installed (Debian: apt-get install emacs-nox elpa-eglot)")
@pytest.mark.parametrize(
    ("client", "script", "kind"), [("eglot", EGLOT, "eglot-warning"), ("lsp-mode", LSP_MODE, "2")]
)
def test_emacs_shows_findings_and_makes_repairs(tmp_path: Path, client: str, script: str, kind: str) -> None:
    out = driven(tmp_path, client, script)
    assert out["marked"] == "prefetch" and out["type"] == kind
    assert "it keeps up to 1000 batches of 18 MiB ready: 18 GiB" in out["message"]
    assert "306 MiB" in out["hover"]
    assert "Let TensorFlow choose the buffer (TFM304)" in out["titles"]
    assert out["text"] == TEXT.replace("1000", "tf.data.AUTOTUNE")
