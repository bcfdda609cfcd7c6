// Starts `tfmemlint server` and hands VS Code's texts and notebooks to it; all that users see comes from the server.

"use strict";

const { window, workspace, commands, env } = require("vscode");
const { LanguageClient, State } = require("vscode-languageclient/node");

const SECTION = "tfmemlint";
const LANGUAGES = ["python", "markdown"];

let client;
let log;

/** The command of the server, as the user has set it. */
function command() {
  const found = workspace.getConfiguration(SECTION).get("command");
  const usable = Array.isArray(found) && found.length > 0 && found.every((word) => typeof word === "string" && word);
  return usable ? found : ["tfmemlint", "server"];
}

/** What the server is told at the start; later changes it asks for itself. */
function settings() {
  const found = workspace.getConfiguration(SECTION);
  return { config: found.get("config") || {}, run: found.get("run"), estimate: found.get("estimate") };
}

function makeClient() {
  const [program, ...args] = command();
  // Cells are sent with their notebooks; that they are named here has VS Code ask about them, too.
  const selector = [{ scheme: "vscode-notebook-cell", language: "python" }];
  for (const scheme of ["file", "untitled"]) {
    for (const language of LANGUAGES) {
      selector.push({ scheme, language });
    }
  }
  const options = {
    documentSelector: selector,
    initializationOptions: settings(),
    outputChannel: log,
    synchronize: { configurationSection: SECTION },
  };
  return new LanguageClient(SECTION, "tfmemlint", { command: program, args }, options);
}

async function start() {
  client = makeClient();
  try {
    await client.start();
  } catch (error) {
    const words = `tfmemlint: ${command().join(" ")} does not start (${error.message}); install it with`;
    const copy = "Copy the command";
    const chosen = await window.showErrorMessage(`${words} pip install 'tfmemlint[lsp]', or set tfmemlint.command`, copy);
    if (chosen === copy) {
      await env.clipboard.writeText("pip install 'tfmemlint[lsp]'");
    }
  }
}

async function stop() {
  const old = client;
  client = undefined;
  // One that did not start, or is at it, has nothing to be stopped.
  if (old && old.state === State.Running) {
    await old.stop();
  }
}

async function restart() {
  await stop();
  await start();
}

async function activate(context) {
  log = window.createOutputChannel("tfmemlint");
  context.subscriptions.push(
    log,
    commands.registerCommand("tfmemlint.restart", restart),
    commands.registerCommand("tfmemlint.showLog", () => log.show()),
    workspace.onDidChangeConfiguration((event) => {
      if (event.affectsConfiguration(`${SECTION}.command`)) {
        return restart();
      }
    }),
  );
  await start();
}

module.exports = { activate, deactivate: stop };
