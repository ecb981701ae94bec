/**
 * Requests as curl commands.
 */

/** `key`: a key, or the shell variable that holds it. */
export const curl = (path: string, key: string, body: unknown): string =>
  [
    `curl ${location.origin}${path}`,
    `-H "Authorization: Bearer ${key}"`,
    `-H 'Content-Type: application/json'`,
    `-d '${JSON.stringify(body, null, 2).replaceAll("'", `'\\''`)}'`
  ].join(" \\\n  ")
