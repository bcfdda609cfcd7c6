"""Vim with ALE as a client, set up as docs/editors.md says."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from rpc import PREFETCH

VIM = shutil.which("vim")
DOCS = Path(__file__).parents[2] / "docs" / "editors.md"
TEXT = PREFETCH.format(before="x = '😀'; ")
ALE = Path("/usr/share/vim-ale")
"""Where Debian's package lies, for a Vim that is started without any configuration."""

SCRIPT = """
set nocompatible encoding=utf-8 hidden shortmess+=F
scriptencoding utf-8
if !has('job') || !has('timers')
  cquit 77
endif
filetype plugin on
let g:ale_hover_to_preview = 1
runtime plugin/ale.vim
source setup.vim

function! WaitUntil(what, test)
  let l:end = localtime() + 120
  while !a:test()
    if localtime() > l:end
      throw a:what . ' did not come'
    endif
    sleep 50m
  endwhile
endfunction

function! Previews()
  return filter(range(1, winnr('$')), {_, number -> getwinvar(number, '&previewwindow')})
endfunction

try
  edit train.py
  set filetype=python
  let g:own = bufnr('')
  call ale#Queue(0)
  call WaitUntil('a finding', {-> !empty(ale#engine#GetLoclist(g:own))})
  let g:out = {'finding': ale#engine#GetLoclist(g:own)[0]}
  call cursor(g:out.finding.lnum, g:out.finding.col)
  ALEHover
  call WaitUntil('a hover', {-> !empty(Previews())})
  let g:out.hover = join(getbufline(winbufnr(Previews()[0]), 1, '$'), "\\n")
  pclose
  call feedkeys("1\\<CR>", 't')
  ALECodeAction
  call WaitUntil('the repair', {-> empty(filter(getbufline(g:own, 1, '$'), {_, line -> line =~# '1000'}))})
  let g:out.text = join(getbufline(g:own, 1, '$'), "\\n") . "\\n"
  call ale#Queue(0) " a script sees no TextChanged
  call WaitUntil('the end of the finding', {-> empty(ale#engine#GetLoclist(g:own))})
catch
  let g:out = {'error': v:exception . ' at ' . v:throwpoint}
endtry
call writefile([json_encode(g:out)], 'out.json')
qall!
"""


@pytest.mark.skipif(VIM is None or not ALE.exists(), reason="Vim or ALE is missing (Debian: vim-nox and vim-ale)")
def test_ale_shows_findings_and_makes_repairs(tmp_path: Path) -> None:
    blocks = re.findall(r"^```vim\n(.*?)^```", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    (tmp_path / "setup.vim").write_text(blocks[0])
    (tmp_path / "script.vim").write_text(f"set runtimepath^={ALE}\n{SCRIPT}")
    (tmp_path / "train.py").write_text(TEXT, "utf-8")
    path = f"{os.path.dirname(sys.executable)}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "HOME": str(tmp_path), "PATH": path, "LC_ALL": "C.UTF-8"}
    command = [str(VIM), "-u", "NONE", "-i", "NONE", "-n", "--not-a-term", "-T", "dumb", "-S", "script.vim"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL
    )
    if done.returncode == 77:
        pytest.skip("this Vim starts no processes")
    assert (tmp_path / "out.json").exists(), (done.stdout, done.stderr)
    out = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert "error" not in out, out
    finding = out["finding"]
    assert (finding["code"], finding["type"], finding["lnum"]) == ("TFM304", "W", 5)
    assert TEXT.split("\n")[4][finding["col"] - 1 : finding["end_col"]] == "prefetch"
    assert "18 GiB" in finding["text"] and "306 MiB" in out["hover"]
    assert out["text"] == TEXT.replace("1000", "tf.data.AUTOTUNE")
