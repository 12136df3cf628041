// Python in the page: a worker runs Pyodide from `python.js`, and is stopped if it takes too long.
"use strict";

const kernel = (() => {
  const [START, RUN] = [120, 10]; // limits in seconds: of the start, and of one answer
  const here = new URL(".", document.currentScript.src);
  let worker;
  let ready; // promise of the start of Python in the worker
  let stop = () => {};

  // This function runs in the worker, and gives Pyodide the files that it would fetch.
  async function main() {
    let replied;
    const boot = async ({ core, loader, files, lock, modules }) => {
      const module = (text) => import(URL.createObjectURL(new Blob([text], { type: "text/javascript" })));
      // A page opened from a file has only classic workers; Pyodide runs in them if importScripts fails.
      self.importScripts = () => { throw new Error("no scripts"); };
      self.fetch = async (address) => {
        const name = String(address.url ?? address).split("/").at(-1);
        if (!files[name]) throw new TypeError(`${name} is not here`);
        const type = name.endsWith("wasm") ? "application/wasm" : "application/zip";
        return new Response(files[name], { headers: { "Content-Type": type } });
      };
      const [{ loadPyodide }, { default: createPyodideModule }] = [await module(core), await module(loader)];
      const python = await loadPyodide({ createPyodideModule, indexURL: "file:///python/", lockFileContents: lock });
      for (const [path, text] of Object.entries(modules)) {
        python.FS.mkdirTree(path.slice(0, path.lastIndexOf("/")));
        python.FS.writeFile(path, text);
      }
      python.runPython("import sys; sys.path.insert(0, '/room')");
      replied = python.pyimport("dplearn.teaching.classroom.in_page").replied;
    };
    self.onmessage = async ({ data }) => {
      try {
        if (data.core) await boot(data);
        self.postMessage({ reply: data.core ? "ready" : replied(data.code, data.name, data.program) });
      } catch (error) {
        self.postMessage({ problem: String(error.message ?? error).trim().split("\n").at(-1) });
      }
    };
  }

  const script = () => new Promise((onload, fail) => {
    if (globalThis.pythonFiles) return onload();
    const [src, onerror] = [new URL("python.js", here), () => fail(new Error("assets/python.js is missing"))];
    document.head.append(Object.assign(document.createElement("script"), { src, onload, onerror }));
  });

  // Return the worker's reply to a message, or fail after the given seconds.
  const asked = (message, seconds) => new Promise((done, fail) => {
    const late = setTimeout(() => fail(new Error("late")), 1000 * seconds);
    worker.onerror = (event) => fail(new Error(event.message || "the browser refused it"));
    worker.onmessage = ({ data }) => {
      clearTimeout(late);
      if (data.problem) fail(new Error(data.problem));
      else done(data.reply);
    };
    worker.postMessage(message);
  });

  async function start() {
    await script();
    const files = {};
    for (const [name, text] of Object.entries(pythonFiles.files)) {
      files[name] = await (await fetch(`data:application/octet-stream;base64,${text}`)).arrayBuffer();
    }
    const source = new Blob([`(${main})()`], { type: "text/javascript" });
    worker = new Worker(URL.createObjectURL(source));
    await asked({ ...pythonFiles, files }, START);
  }

  // Return the verdict of `dplearn.teaching.classroom.in_page.replied` on a student's code.
  async function verdict(code, name, program, item) {
    const again = "Python begins anew with the next check.";
    const told = {
      stopped: `you stopped it. ${again}`,
      late: `it takes more than ${RUN} seconds; look for a loop without an end, or try again when this computer is less busy. ${again}`,
    };
    const interrupted = new Promise((_, fail) => { stop = () => fail(new Error("stopped")); });
    const unread = (problem, head = `${item} stops`) => ({ outcome: "unreadable", head, messages: [problem], shown: [] });
    try {
      await Promise.race([(ready ??= start()), interrupted]);
    } catch ({ message }) {
      if (message === "stopped") return unread("you stopped it before Python had started.");
      worker?.terminate();
      ready = undefined;
      return unread(`Python did not start (${message}). Open the lesson in Jupyter, or load the page again.`);
    }
    try {
      return JSON.parse(await Promise.race([asked({ code, name, program }, RUN), interrupted]));
    } catch ({ message }) {
      worker.terminate();
      ready = undefined;
      return unread(told[message] ?? `Python broke off (${message}). ${again}`, `${item} not judged`);
    }
  }

  return { verdict, stop: () => stop() };
})();
