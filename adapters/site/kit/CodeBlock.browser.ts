/**
 * Code with a copy button, and curl commands to show in it.
 */
import { copy } from "./CopyButtons.browser.ts"
import { button, el } from "./Dom.browser.ts"

export const codeBlock = (text: string): HTMLElement => {
  const code = el("code", text)
  const copier = button("Copy", () => void copy(code, copier), "tiny")
  return el("div", { class: "copyable" }, el("pre", code), copier)
}

/** `key`: a key, or the shell variable that holds it. */
export const curl = (path: string, key: string, body: unknown): string =>
  [
    `curl ${location.origin}${path}`,
    `-H "Authorization: Bearer ${key}"`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`
  ].join(" \\\n  ")
