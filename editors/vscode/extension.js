// Starts `tfmemlint server` and hands VS Code's texts and notebooks to it; all that users see comes from the server.

"use strict";

const { window, workspace, commands, env, Uri } = require("vscode");
const { LanguageClient, State, CloseAction } = require("vscode-languageclient/node");

const SECTION = "tfmemlint";
const LANGUAGES = ["python", "markdown"];
const SHOW_ESTIMATE = "tfmemlint.showEstimate";

let client;
let log;

/** A client that shows errors while its server serves: of one that does not start `start` says it, once, and what helps. */
class Client extends LanguageClient {
  serves = false;

  error(message, data, shown) {
    super.error(message, data, this.serves ? shown : false);
  }
}

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

/** A page of a rule, which the server has written as Markdown, as it is meant to be read. */
async function showPage(params, next) {
  if (!params.external && params.uri.startsWith("file:") && params.uri.endsWith(".md")) {
    try {
      await commands.executeCommand("markdown.showPreview", Uri.parse(params.uri));
      return { success: true };
    } catch {
      // Without VS Code's own extension for Markdown there is its text.
    }
  }
  return next(params);
}

/** What stands behind an estimate, line by line; a notification would put all of it on one. */
function showEstimate(markdown) {
  const text = String(markdown).replace(/\\([\\`*[\]<])|\*\*/g, (_, escaped) => escaped || "");
  const [headline, ...lines] = text.split("\n");
  return window.showInformationMessage(headline, { modal: true, detail: lines.join("\n").trim() });
}

const middleware = {
  window: { showDocument: showPage },
  executeCommand: (name, given, next) => (name === SHOW_ESTIMATE ? showEstimate(given[0]) : next(name, given)),
};

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
    middleware,
    initializationFailedHandler: () => false,
    // One that ends while it starts would do so again; one that crashes later is started anew, as is usual.
    errorHandler: {
      error: (...failure) => usual.error(...failure),
      closed: () => (made.serves ? usual.closed() : { action: CloseAction.DoNotRestart, handled: true }),
    },
  };
  const made = new Client(SECTION, "tfmemlint", { command: program, args }, options);
  const usual = made.createDefaultErrorHandler();
  return made;
}

async function start() {
  client = makeClient();
  try {
    await client.start();
    client.serves = true;
  } catch {
    void sayWhatHelps(); // the client has put the reason into its log
  }
}

async function sayWhatHelps() {
  const words = `tfmemlint: ${command().join(" ")} does not start; install it with`;
  const [copy, show] = ["Copy the command", "Show the log"];
  const message = `${words} pip install 'tfmemlint[lsp]', or set tfmemlint.command`;
  const chosen = await window.showErrorMessage(message, copy, show);
  if (chosen === copy) {
    await env.clipboard.writeText("pip install 'tfmemlint[lsp]'");
  } else if (chosen === show) {
    log.show();
  }
}

async function stop() {
  const old = client;
  client = undefined;
  // One that did not start has nothing to be stopped.
  if (old && old.state === State.Running) {
    old.serves = false;
    await old.stop().catch((error) => log.appendLine(`The server was not stopped: ${error.message}`));
  }
}

// One after the other, for a server that is still starting cannot be stopped and would stay.
let last = Promise.resolve();

function inTurn(...steps) {
  for (const step of steps) {
    last = last.then(step);
  }
  return last;
}

const restart = () => inTurn(stop, start);

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
  await inTurn(start);
}

module.exports = { activate, deactivate: () => inTurn(stop) };
