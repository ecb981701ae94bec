/**
 * Any text as a header value. What plain ASCII cannot carry travels as `=?base64?…?=`, the form that MCP gives to
 * `Mcp-Name` and `Mcp-Param-*`; our own `X-Market-*` headers use it as well.
 */
export const headerText = (text: string): string =>
  plain.test(text) && !(text.startsWith(prefix) && text.endsWith(suffix))
    ? text
    : `${prefix}${Buffer.from(text, "utf8").toString("base64")}${suffix}`

const prefix = "=?base64?"
const suffix = "?="

/** Visible ASCII, spaces inside; nothing, too. */
const plain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/u
