// The extension with a VS Code that is made up: which server it starts, with which settings, and what becomes of failures.

"use strict";

const test = require("node:test");
const assert = require("node:assert");
const Module = require("node:module");
const path = require("node:path");

const State = { Stopped: 1, Running: 2, Starting: 3 };
const CloseAction = { DoNotRestart: 1, Restart: 2 };

function made(values, fails = false, lacks = []) {
  const seen = { clients: [], errors: [], commands: {}, copied: [], listeners: [], told: [], run: [] };
  class LanguageClient {
    constructor(id, name, server, options) {
      Object.assign(this, { id, name, server, options, state: State.Stopped, stopped: 0 });
      seen.clients.push(this);
    }
    async start() {
      this.state = State.Starting;
      await new Promise(setImmediate);
      if (fails) {
        this.closed = this.options.errorHandler.closed();
        this.error("couldn't create connection", undefined, "force");
        this.state = State.Stopped;
        // What the client's own library throws for a program that is not there.
        throw "Launching server using command tfmemlint failed.";
      }
      this.state = State.Running;
    }
    error(message, data, shown) {
      if (shown) {
        seen.told.push(message);
      }
    }
    createDefaultErrorHandler() {
      return { error: () => ({}), closed: () => ({ action: CloseAction.Restart }) };
    }
    async stop() {
      assert.strictEqual(this.state, State.Running);
      this.stopped += 1;
      this.state = State.Stopped;
    }
  }
  const vscode = {
    window: {
      createOutputChannel: () => ({ show() {}, dispose() {}, appendLine() {} }),
      showInformationMessage: async (...given) => seen.told.push(given),
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
      executeCommand: async (name, ...given) => {
        if (lacks.includes(name)) {
          throw new Error(`command '${name}' not found`);
        }
        seen.run.push([name, ...given]);
      },
    },
    Uri: { parse: (text) => ({ parsed: text }) },
    env: { clipboard: { writeText: async (text) => seen.copied.push(text) } },
  };
  const load = Module._load;
  Module._load = (name, ...rest) => {
    if (name === "vscode") {
      return vscode;
    }
    return name === "vscode-languageclient/node" ? { LanguageClient, State, CloseAction } : load(name, ...rest);
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
  await new Promise(setImmediate);
  assert.strictEqual(seen.errors.length, 1);
  assert.match(seen.errors[0], /tfmemlint server does not start; .*pip install 'tfmemlint\[lsp\]'/);
  assert.deepStrictEqual(seen.copied, ["pip install 'tfmemlint[lsp]'"]);
  assert.deepStrictEqual(seen.told, []);
  assert.strictEqual(seen.clients[0].closed.action, CloseAction.DoNotRestart);
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

test("a server that was running is started again when it crashes, and its failures are told", async () => {
  const [extension, seen] = made({});
  await extension.activate(context());
  const [client] = seen.clients;
  assert.strictEqual(client.options.errorHandler.closed().action, CloseAction.Restart);
  client.error("it crashed", undefined, "force");
  assert.deepStrictEqual(seen.told, ["it crashed"]);
});

test("commands that follow each other fast leave one server", async () => {
  const values = { command: ["one"] };
  const [extension, seen] = made(values);
  const begun = extension.activate(context());
  const changed = () => seen.listeners[0]({ affectsConfiguration: () => true });
  values.command = ["two"];
  const ended = changed();
  values.command = ["three"];
  await Promise.all([begun, ended, changed()]);
  const running = seen.clients.filter((each) => each.state === State.Running);
  assert.deepStrictEqual(running.map((each) => each.server.command), ["three"]);
});

test("a rule's page is shown as it is meant to be read, and what else there is as usual", async () => {
  const page = { uri: "file:///tmp/tfmemlint-1/TFM304.md", external: false, takeFocus: true };
  const usual = async (params) => ({ usual: params });
  for (const lacks of [[], ["markdown.showPreview"]]) {
    const [extension, seen] = made({}, false, lacks);
    await extension.activate(context());
    const { showDocument } = seen.clients[0].options.middleware.window;
    const shown = await showDocument(page, usual);
    assert.deepStrictEqual(shown, lacks.length ? { usual: page } : { success: true });
    assert.deepStrictEqual(seen.run, lacks.length ? [] : [["markdown.showPreview", { parsed: page.uri }]]);
    const site = { uri: "https://example.org/rules/TFM304/", external: true };
    assert.deepStrictEqual(await showDocument(site, usual), { usual: site });
  }
});

test("what stands behind an estimate is shown line by line", async () => {
  const [extension, seen] = made({});
  await extension.activate(context());
  const { executeCommand } = seen.clients[0].options.middleware;
  await executeCommand("tfmemlint.showEstimate", ["**one step: 5 GiB**\n\nown loop\n\n- a \\[layer\\]: 3 MiB"], assert.fail);
  assert.deepStrictEqual(seen.told, [["one step: 5 GiB", { modal: true, detail: "own loop\n\n- a [layer]: 3 MiB" }]]);
  const sent = [];
  executeCommand("tfmemlint.openRulePage", ["TFM304"], (...given) => sent.push(given));
  assert.deepStrictEqual(sent, [["tfmemlint.openRulePage", ["TFM304"]]]);
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
