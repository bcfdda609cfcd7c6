// The extension with a VS Code that is made up: which server it starts, with which settings, and what becomes of failures.

"use strict";

const test = require("node:test");
const assert = require("node:assert");
const Module = require("node:module");
const path = require("node:path");

const State = { Stopped: 1, Running: 2, Starting: 3 };

function made(values, fails) {
  const seen = { clients: [], errors: [], commands: {}, copied: [], listeners: [] };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(this, { id, name, server, options, state: State.Stopped, stopped: 0 });
      seen.clients.push(this);
    }
    async start() {
      if (fails) {
        throw new Error("spawn ENOENT");
      }
      this.state = State.Running;
    }
    async stop() {
      this.stopped += 1;
      this.state = State.Stopped;
    }
  }
  const vscode = {
    window: {
      createOutputChannel: () => ({ show() {}, dispose() {} }),
      showErrorMessage: async (message, ...choices) => {
        seen.errors.push(message);
        return choices[0];
      },
    },
    workspace: {
      getConfiguration: () => ({ get: (name) => values[name] }),
      onDidChangeConfiguration: (listener) => seen.listeners.push(listener),
    },
    commands: {
      registerCommand: (name, run) => {
        seen.commands[name] = run;
      },
    },
    env: { clipboard: { writeText: async (text) => seen.copied.push(text) } },
  };
  const load = Module._load;
  Module._load = (name, ...rest) => {
    if (name === "vscode") {
      return vscode;
    }
    return name === "vscode-languageclient/node" ? { LanguageClient, State } : load(name, ...rest);
  };
  try {
    const file = path.join(__dirname, "..", "extension.js");
    delete require.cache[file];
    return [require(file), seen];
  } finally {
    Module._load = load;
  }
}

const context = () => ({ subscriptions: [] });

test("the command and the settings of the user are taken", async () => {
  const config = { "extend-select": ["ADVICE"] };
  const [extension, seen] = made({ command: ["/opt/python", "-m", "tfmemlint", "server"], config, run: "onSave" });
  await extension.activate(context());
  const [client] = seen.clients;
  assert.deepStrictEqual(client.server, { command: "/opt/python", args: ["-m", "tfmemlint", "server"] });
  assert.deepStrictEqual(client.options.initializationOptions, { config, run: "onSave", estimate: undefined });
  assert.ok(client.options.documentSelector.some((each) => each.scheme === "file" && each.language === "python"));
});

for (const command of [undefined, [], "tfmemlint", [""], [3]]) {
  test(`a command that is none is not taken: ${JSON.stringify(command)}`, async () => {
    const [extension, seen] = made({ command });
    await extension.activate(context());
    assert.deepStrictEqual(seen.clients[0].server, { command: "tfmemlint", args: ["server"] });
  });
}

test("a server that does not start is told in one line, with what installs it", async () => {
  const [extension, seen] = made({}, true);
  await extension.activate(context());
  assert.strictEqual(seen.errors.length, 1);
  assert.match(seen.errors[0], /tfmemlint server does not start \(spawn ENOENT\).*pip install 'tfmemlint\[lsp\]'/);
  assert.deepStrictEqual(seen.copied, ["pip install 'tfmemlint[lsp]'"]);
  await extension.deactivate();
  assert.strictEqual(seen.clients[0].stopped, 0);
});

test("another command starts another server", async () => {
  const values = { command: ["one"] };
  const [extension, seen] = made(values);
  await extension.activate(context());
  values.command = ["two"];
  const affects = (name) => ({ affectsConfiguration: (asked) => asked === name });
  await seen.listeners[0](affects("tfmemlint.run"));
  assert.strictEqual(seen.clients.length, 1);
  await seen.listeners[0](affects("tfmemlint.command"));
  assert.deepStrictEqual(seen.clients.map((each) => each.server.command), ["one", "two"]);
  assert.strictEqual(seen.clients[0].stopped, 1);
});

test("it can be restarted and ends with VS Code", async () => {
  const [extension, seen] = made({});
  await extension.activate(context());
  await seen.commands["tfmemlint.restart"]();
  await extension.deactivate();
  assert.deepStrictEqual(seen.clients.map((each) => each.stopped), [1, 1]);
});

test("what the manifest offers is there", async () => {
  const manifest = require("../package.json");
  const [extension, seen] = made({});
  await extension.activate(context());
  const offered = manifest.contributes.commands.map((each) => each.command).sort();
  assert.deepStrictEqual(Object.keys(seen.commands).sort(), offered);
});
