/**
 * Text of others on a terminal: names, descriptions and results come from providers, and control characters in them could
 * move the cursor, change the title or hide text.
 */

/** All controls but line feed and tab, and the marks that reverse the order of text. */
const CONTROLS = /[[\p{Cc}--[\n\t]]\p{Bidi_Control}]/gv

export const safeText = (text: string): string => text.replaceAll(CONTROLS, "\u{fffd}")

export const safeLine = (text: string): string => safeText(text).replaceAll(/\s+/gu, " ").trim()

/** JSON that means the same, with every control escaped. */
export const safeJson = (value: unknown): string =>
  (JSON.stringify(value, null, 2) ?? "null").replaceAll(
    CONTROLS,
    (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, "0")}`
  )
