/**
 * Text of others on a terminal: names, descriptions and results come from providers, and control characters in them could
 * move the cursor, change the title or hide text.
 */

import { escapeHidden, escapeHiddenJson, withNewlines } from "../../domain/shared/PlainText.ts"

export const safeText = (text: string): string => escapeHidden(withNewlines(text))

export const safeLine = (text: string): string => safeText(text).replaceAll(/\s+/gu, " ").trim()

export const safeJson = (value: unknown): string => escapeHiddenJson(JSON.stringify(value, null, 2) ?? "null")
