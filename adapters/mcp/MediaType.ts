/** The two content types of MCP responses. */
export const isJson = (type: string): boolean =>
  type === "application/json" || /^application\/(?:[\w.+-]+\+)?json\s*(?:;|$)/iu.test(type)
export const isEventStream = (type: string): boolean => /^text\/event-stream\s*(?:;|$)/iu.test(type)
