/**
 * Libraries that pages import, as npm packages publish them, by the name under which they are served.
 */
export const LIBRARIES: ReadonlyMap<string, string> = new Map([
  ["preact", "library/preact.js"],
  ["preact/hooks", "library/preactHooks.js"],
  ["@preact/signals", "library/signals.js"],
  ["@preact/signals-core", "library/signalsCore.js"]
])
