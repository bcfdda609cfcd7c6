"""Neovim as a client, set up as docs/editors.md says."""

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

NEOVIM = shutil.which("nvim")
DOCS = Path(__file__).parents[2] / "docs" / "editors.md"
TEXT = PREFETCH.format(before="x = '😀'; ")

SCRIPT = """
local out = {}

local function attempt()
  vim.cmd("edit train.py")
  local function seen() return #vim.diagnostic.get(0) > 0 end
  assert(vim.wait(120000, seen, 50), "no diagnostics came")
  local found = vim.diagnostic.get(0)[1]
  out.diagnostic = { code = found.code or found.user_data.lsp.code, message = found.message, severity = found.severity }
  local line = vim.api.nvim_buf_get_lines(0, found.lnum, found.lnum + 1, false)[1]
  out.marked = line:sub(found.col + 1, found.end_col)
  vim.api.nvim_win_set_cursor(0, { found.lnum + 1, found.col })

  vim.lsp.buf.hover()
  local function floating()
    for _, window in ipairs(vim.api.nvim_list_wins()) do
      if vim.api.nvim_win_get_config(window).relative ~= "" then return window end
    end
  end
  assert(vim.wait(120000, function() return floating() ~= nil end, 50), "no hover came")
  local shown = vim.api.nvim_buf_get_lines(vim.api.nvim_win_get_buf(floating()), 0, -1, false)
  out.hover = table.concat(shown, "\\n")
  vim.api.nvim_win_close(floating(), true)

  out.titles = {}
  vim.ui.select = function(items, _, choose)
    for _, item in ipairs(items) do
      local title = (item.action or item[2]).title
      table.insert(out.titles, title)
      if title:find("buffer", 1, true) then choose(item, 1) end
    end
  end
  local before = vim.api.nvim_buf_get_changedtick(0)
  vim.lsp.buf.code_action()
  local function changed() return vim.api.nvim_buf_get_changedtick(0) ~= before end
  assert(vim.wait(120000, changed, 50), "the repair was not made")
  out.text = table.concat(vim.api.nvim_buf_get_lines(0, 0, -1, false), "\\n") .. "\\n"
  assert(vim.wait(120000, function() return #vim.diagnostic.get(0) == 0 end, 50), "the finding is still there")
end

local done, why = pcall(attempt)
if not done then out.error = tostring(why) end
local file = io.open("out.json", "w")
file:write(vim.json and vim.json.encode(out) or vim.fn.json_encode(out))
file:close()
vim.cmd("qall!")
"""


@pytest.mark.skipif(NEOVIM is None, reason="Neovim is not installed (Debian: apt-get install neovim)")
def test_neovim_shows_findings_and_makes_repairs(tmp_path: Path) -> None:
    blocks = re.findall(r"^```lua\n(.*?)^```", DOCS.read_text("utf-8"), re.DOTALL | re.MULTILINE)
    setup = next(block for block in blocks if "start_client" in block)
    (tmp_path / "init.lua").write_text(setup)
    (tmp_path / "script.lua").write_text(SCRIPT)
    (tmp_path / "train.py").write_text(TEXT, "utf-8")
    folder = os.path.dirname(sys.executable)
    home = {f"XDG_{name}_HOME": str(tmp_path / name) for name in ("CONFIG", "DATA", "STATE", "CACHE")}
    environment = {**os.environ, **home, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
    command = [str(NEOVIM), "--headless", "-u", "init.lua", "-i", "NONE", "-n", "-S", "script.lua"]
    done = subprocess.run(
        command, cwd=tmp_path, env=environment, capture_output=True, text=True, timeout=600, stdin=subprocess.DEVNULL
    )
    assert (tmp_path / "out.json").exists(), done.stderr
    out = json.loads((tmp_path / "out.json").read_text("utf-8"))
    assert "error" not in out, (out, done.stderr)
    assert out["diagnostic"]["code"] == "TFM304" and "18 GiB" in out["diagnostic"]["message"]
    assert out["diagnostic"]["severity"] == 2
    assert out["marked"] == "prefetch"
    assert "memory: 18 GiB" in out["hover"] and "306 MiB" in out["hover"]
    assert "Let TensorFlow choose the buffer (TFM304)" in out["titles"]
    assert out["text"] == TEXT.replace("1000", "tf.data.AUTOTUNE")
