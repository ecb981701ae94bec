/**
 * Results of the market door's own tools.
 */

/** Clients that do not read `structuredContent` read the same as text. */
export const ownResult = (value: object): string => {
  const json = JSON.stringify(value)
  return `{"content":[{"type":"text","text":${JSON.stringify(json)}}],"structuredContent":${json}}`
}

/** What went wrong, in words that a model can act on. */
export const ownError = (text: string): string => JSON.stringify({ content: [{ type: "text", text }], isError: true })
