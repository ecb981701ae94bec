/**
 * Results of the market door's own tools. A model may read a hidden character that no person sees, so they are shown.
 */
import { escapeHidden } from "../../../../domain/shared/PlainText.ts"

/** Clients that do not read `structuredContent` read the same as text. */
export const ownResult = (value: object): string => {
  const json = escapeHidden(JSON.stringify(value))
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}}`
}

/** What went wrong, in words that a model can act on. */
export const ownError = (text: string): string =>
  JSON.stringify({ content: [{ type: "text", text: escapeHidden(text) }], isError: true })
