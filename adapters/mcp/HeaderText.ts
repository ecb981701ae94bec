/**
 * Any text as a header value. Text that plain ASCII cannot represent is encoded as `=?base64?…?=`, the form of MCP's
 * `Mcp-Name` and `Mcp-Param-*`; the `X-Market-*` headers use it as well.
 */
export const headerText = (text: string): string =>
  plain.test(text) && !(text.startsWith(prefix) && text.endsWith(suffix))
    ? text
    : `${prefix}${Buffer.from(text, "utf8").toString("base64")}${suffix}`

const prefix = "=?base64?"
const suffix = "?="

/** Visible ASCII with inner spaces, or empty. */
const plain = /^(?:[\x21-\x7e](?:[\x20-\x7e]*[\x21-\x7e])?)?$/u
