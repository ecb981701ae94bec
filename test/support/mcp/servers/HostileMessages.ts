/**
 * Requests that no MCP client sends, drawn from a seed: malformed JSON-RPC, batches, headers that contradict the body, huge
 * ids, deep JSON, unknown methods, wrong types.
 */
export interface HostileRequest {
  readonly method: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
}

type Draw = <A>(from: ReadonlyArray<A>) => A

/** mulberry32 */
const drawing = (seed: number): Draw => {
  let state = seed
  return (from) => {
    state = (state + 0x6d2b79f5) | 0
    let t = Math.imul(state ^ (state >>> 15), 1 | state)
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t
    return from[((t ^ (t >>> 14)) >>> 0) % from.length]!
  }
}

const deep = (levels: number): string => `${"[".repeat(levels)}${"]".repeat(levels)}`
const long = (chars: number): string => "x".repeat(chars)

const IDS = [
  "1",
  '"a"',
  "0",
  "-1",
  "1.5",
  "1e400",
  "null",
  "true",
  "{}",
  "[]",
  "12345678901234567890123",
  `"${long(70_000)}"`,
  '"\\u0000"'
]
const METHODS = [
  '"tools/call"',
  '"tools/list"',
  '"initialize"',
  '"ping"',
  '"server/discover"',
  '"subscriptions/listen"',
  '"resources/read"',
  '"prompts/get"',
  '"completion/complete"',
  '"logging/setLevel"',
  '"tasks/get"',
  '"notifications/cancelled"',
  '"notifications/progress"',
  '"notifications/initialized"',
  '"no/such"',
  '"__proto__"',
  '""',
  "null",
  "7",
  "{}",
  `"${long(5_000)}"`
]
const MODERN = `"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}`
const METAS = [
  "{}",
  "null",
  "[]",
  `{${MODERN}}`,
  `{${MODERN},"progressToken":{}}`,
  `{${MODERN},"progressToken":1}`,
  `{"io.modelcontextprotocol/protocolVersion":"1999-01-01"}`,
  `{"io.modelcontextprotocol/protocolVersion":7}`,
  `{${MODERN},"agent-tool-billing/max_cost_microcents":-1}`,
  `{${MODERN},"agent-tool-billing/max_cost_microcents":1e300}`,
  `{${MODERN},"agent-tool-billing/idempotency_key":{}}`,
  `{${MODERN},"agent-tool-billing/idempotency_key":"${long(2_000)}"}`
]
const ARGUMENTS = [
  "{}",
  "[]",
  "null",
  "7",
  '"text"',
  `{"a":${deep(2_000)}}`,
  `{"__proto__":{"a":1}}`,
  `{"a":"${long(90_000)}"}`
]
const NAMES = [
  '"test_simple_text"',
  '"no_such_tool"',
  '""',
  "null",
  "7",
  `"${long(3_000)}"`,
  '"a__b"',
  '"../../x"',
  '"\\ud800"'
]
const RAW = [
  "",
  " ",
  "{",
  "}",
  "null",
  "[]",
  "[[]]",
  "[1]",
  "7",
  '"x"',
  "{}",
  "\u0000",
  "\ufeff{}",
  deep(100_000),
  "{".repeat(50_000),
  '{"jsonrpc":"2.0"}',
  '{"jsonrpc":"1.0","id":1,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"id":2,"method":"ping"}',
  '{"jsonrpc":"2.0","id":1,"result":{}}',
  '{"jsonrpc":"2.0","id":1,"error":null}'
]
const VERSIONS = [undefined, "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "1999-01-01", "", "x", long(6_000)]
const TYPES = [
  "application/json",
  "application/json",
  "application/json",
  "text/plain",
  "application/json; charset=utf-16",
  "multipart/form-data",
  ""
]
const ACCEPTS = ["application/json, text/event-stream", "application/json", "text/event-stream", "*/*", "text/html", ""]
const SESSIONS = [
  undefined,
  undefined,
  "unknown",
  "",
  "'; DROP TABLE mcp_sessions; --",
  long(5_000),
  "a b",
  "0".repeat(32)
]
const EVENTS = [undefined, undefined, "0", "unknown", "-1", long(4_000), "9".repeat(40)]
const NAME_HEADERS = [
  undefined,
  undefined,
  "test_simple_text",
  "other",
  "=?base64?!!!?=",
  "=?base64?////?=",
  long(5_000)
]
const METHOD_HEADERS = [undefined, undefined, "tools/call", "tools/list", "ping", "", long(3_000)]
const HTTP_METHODS = ["POST", "POST", "POST", "POST", "POST", "POST", "GET", "DELETE", "PUT", "PATCH"]

const messageOf = (draw: Draw): string => {
  const params = draw([
    `,"params":{"name":${draw(NAMES)},"arguments":${draw(ARGUMENTS)},"_meta":${draw(METAS)}}`,
    `,"params":{"_meta":${draw(METAS)},"cursor":${draw(IDS)},"uri":${draw(NAMES)}}`,
    `,"params":{"_meta":${draw(METAS)},"requestState":${draw(NAMES)},"inputResponses":${draw(ARGUMENTS)}}`,
    `,"params":${draw(ARGUMENTS)}`,
    ""
  ])
  return `{"jsonrpc":"2.0"${draw([`,"id":${draw(IDS)}`, `,"id":${draw(IDS)}`, ""])},"method":${draw(METHODS)}${params}}`
}

const bodyOf = (draw: Draw): string =>
  draw([
    () => messageOf(draw),
    () => messageOf(draw),
    () => messageOf(draw),
    () => draw(RAW),
    () => `[${Array.from({ length: draw([1, 3, 150]) }, () => messageOf(draw)).join(",")}]`
  ])()

const headersOf = (draw: Draw, sessions: ReadonlyArray<string>): Record<string, string> => {
  const drawn: Readonly<Record<string, string | undefined>> = {
    "content-type": draw(TYPES),
    accept: draw(ACCEPTS),
    "mcp-protocol-version": draw(VERSIONS),
    "mcp-session-id": draw([...SESSIONS, ...sessions, ...sessions]),
    "mcp-method": draw(METHOD_HEADERS),
    "mcp-name": draw(NAME_HEADERS),
    "last-event-id": draw(EVENTS)
  }
  return Object.fromEntries(
    Object.entries(drawn).filter((entry): entry is [string, string] => entry[1] !== undefined && entry[1] !== "")
  )
}

const SENSIBLE = { "content-type": "application/json", accept: "application/json, text/event-stream" }
const PLAIN = [
  "tools/call",
  "tools/list",
  "server/discover",
  "subscriptions/listen",
  "resources/read",
  "prompts/get",
  "completion/complete",
  "no/such"
]

const NAME_FIELDS: ReadonlyMap<string, string> = new Map([
  ["resources/read", "uri"],
  ["tools/call", "name"],
  ["prompts/get", "name"]
])

/** With the headers that its version requires, so that its params are read. */
const coherent = (draw: Draw, sessions: ReadonlyArray<string>): HostileRequest => {
  const method = draw(PLAIN)
  const name = draw(NAMES)
  const session = draw([undefined, ...sessions])
  const meta = session === undefined ? draw(METAS.filter((one) => one.includes(MODERN))) : draw(METAS)
  const key = NAME_FIELDS.get(method) ?? "cursor"
  const params = `{"${key}":${name},"arguments":${draw(ARGUMENTS)},"_meta":${meta},"requestState":${draw(NAMES)}}`
  const body = `{"jsonrpc":"2.0","id":${draw(["1", '"a"', draw(IDS)])},"method":"${method}","params":${params}}`
  const named = /^"[\w./]+"$/u.test(name) && key !== "cursor" ? { "mcp-name": JSON.parse(name) as string } : {}
  const headers =
    session === undefined
      ? { "mcp-protocol-version": "2026-07-28", "mcp-method": method, ...named }
      : { "mcp-protocol-version": "2025-11-25", "mcp-session-id": session }
  return { method: "POST", headers: { ...SENSIBLE, ...headers }, body }
}

/** `sessions`: of clients that are connected. */
export const hostileRequests = (
  seed: number,
  count: number,
  sessions: ReadonlyArray<string>
): ReadonlyArray<HostileRequest> => {
  const draw = drawing(seed)
  return Array.from({ length: count }, () => {
    if (draw([true, false])) return coherent(draw, sessions)
    const method = draw(HTTP_METHODS)
    // The sessions are needed to the end.
    return {
      method,
      headers: headersOf(draw, method === "DELETE" ? [] : sessions),
      body: method === "GET" ? undefined : bodyOf(draw)
    }
  })
}
