// What an address says of the minute: the run, the reader's guess or one that was sent, the scene.
import { fromAddress, written } from "../page/run.js";
import { guessOf, guessText } from "./guess.js";
import { LANGUAGES } from "./messages.js";

/** All that an address names; the scene from 0. */
export function readAddress(asked) {
  const all = new URLSearchParams(asked);
  const [guess, sent] = ["guess", "sent"].map((name) => guessOf(all.get(name)));
  const language = LANGUAGES.find((code) => code === all.get("language"));
  return { ...fromAddress(asked), guess, sent, language, scene: Math.floor(Number(all.get("scene")) || 1) - 1 };
}

const text = (run, entries) => {
  const all = new URLSearchParams(written(run));
  for (const [name, value] of entries) if (value) all.set(name, value);
  return all.toString();
};
const languageOf = ({ language }) => ["language", language === LANGUAGES[0] ? "" : language];
const guessAs = (name, guess) => [name, guess && guessText(guess)];

/** What opens the minute as it stands. */
export const addressOf = (minute) => text(minute.run, [
  languageOf(minute), guessAs("guess", minute.guess), guessAs("sent", minute.sent), ["scene", minute.scene && String(minute.scene + 1)],
]);

const OWN = /^(localhost|127(\.\d+){3}|\[::1\]|0\.0\.0\.0)$/;

/** The address of a page without its state; empty where only this machine can open it. */
export const placeOf = ({ protocol, hostname, pathname, origin }) =>
  (protocol === "file:" || OWN.test(hostname) ? "" : `${origin}${pathname.replace(/index\.html$/, "")}`);

/** What lets somebody else guess before they see the reader's guess. */
export const addressForOthers = (minute) => text(minute.run, [languageOf(minute), guessAs("sent", minute.guess)]);
