/**
 * Text of others on a terminal: names, descriptions and results come from providers, and control characters in them could
 * move the cursor, change the title or hide text.
 */

import { escapeHidden, withNewlines } from "../../domain/shared/PlainText.ts"

export const safeText = (text: string): string => escapeHidden(withNewlines(text))

export const safeLine = (text: string): string => safeText(text).replaceAll(/\s+/gu, " ").trim()

/** JSON that means the same, with every such character escaped. */
export const safeJson = (value: unknown): string =>
  escapeHidden(JSON.stringify(value, null, 2) ?? "null", (char) =>
    char
      .split("")
      .map((unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`)
      .join("")
  )
