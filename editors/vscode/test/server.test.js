// The real server through the client's own protocol library, as VS Code speaks it. TFMEMLINT names the command.

"use strict";

const test = require("node:test");
const assert = require("node:assert");
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const { spawn } = require("node:child_process");
const { pathToFileURL } = require("node:url");
const rpc = require("vscode-languageserver-protocol/node");

const PROGRAM = process.env.TFMEMLINT || "tfmemlint";
const TEXT = `import tensorflow as tf

x = "😀"; ds = tf.data.TFRecordDataset("a").map(lambda x: tf.zeros((224, 224, 3))).batch(32).prefetch(1000)
`;

test("findings, a repair and the end of the server", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "tfmemlint-"));
  const file = path.join(folder, "train.py");
  fs.writeFileSync(file, TEXT);
  const uri = pathToFileURL(file).href;
  const server = spawn(PROGRAM, ["server", "--stdio"], { stdio: ["pipe", "pipe", "inherit"] });
  const ended = new Promise((resolve) => server.on("exit", resolve));
  const connection = rpc.createProtocolConnection(server.stdout, server.stdin);
  const published = new Promise((resolve) =>
    connection.onNotification(rpc.PublishDiagnosticsNotification.type, resolve),
  );
  connection.onRequest(rpc.RegistrationRequest.type, () => undefined);
  connection.listen();
  try {
    const codeAction = { dataSupport: true, resolveSupport: { properties: ["edit"] } };
    const capabilities = { textDocument: { codeAction }, workspace: { workspaceEdit: { documentChanges: true } } };
    const workspaceFolders = [{ uri: pathToFileURL(folder).href, name: "folder" }];
    await connection.sendRequest(rpc.InitializeRequest.type, {
      processId: process.pid, rootUri: null, capabilities, workspaceFolders,
    });
    connection.sendNotification(rpc.InitializedNotification.type, {});
    const textDocument = { uri, languageId: "python", version: 1, text: TEXT };
    connection.sendNotification(rpc.DidOpenTextDocumentNotification.type, { textDocument });
    const { diagnostics } = await published;
    assert.deepStrictEqual(diagnostics.map((each) => each.code), ["TFM304"]);
    const { start, end } = diagnostics[0].range;
    // JavaScript's strings count as the protocol does.
    assert.strictEqual(TEXT.split("\n")[start.line].slice(start.character, end.character), "prefetch");
    const found = await connection.sendRequest(rpc.CodeActionRequest.type, {
      textDocument: { uri }, range: diagnostics[0].range, context: { diagnostics, only: ["source.fixAll"] },
    });
    const { edit } = await connection.sendRequest(rpc.CodeActionResolveRequest.type, found[0]);
    assert.deepStrictEqual(edit.documentChanges[0].textDocument, { uri, version: 1 });
    assert.deepStrictEqual(edit.documentChanges[0].edits.map((each) => each.newText), ["tf.data.AUTOTUNE"]);
  } finally {
    await connection.sendRequest(rpc.ShutdownRequest.type);
    connection.sendNotification(rpc.ExitNotification.type);
    assert.strictEqual(await ended, 0);
    connection.dispose();
    fs.rmSync(folder, { recursive: true });
  }
});
