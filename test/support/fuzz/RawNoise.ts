/**
 * Malformed and almost valid requests in bytes that no HTTP client sends. The service answers or disconnects.
 */
import { connect } from "node:net"
import type { Chance } from "./Chance.ts"
import { ANSWER_MS_MAX } from "./Client.ts"

const HEADS = [
  "GET /api/market HTTP/1.1\r\nhost: x\r\n\r\n",
  "POST /api/market/proxy HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 2\r\n\r\n{}",
  "POST /api/market/proxy HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
  "OPTIONS * HTTP/1.1\r\nhost: x\r\n\r\n"
]
const PIECES = [
  "\r\n",
  "\0",
  "\n",
  " ",
  ":",
  "%",
  "\u{ff}",
  "content-length: -1\r\n",
  "transfer-encoding: x\r\n",
  "HTTP/9.9"
]

const bytesOf = (chance: Chance): Buffer => {
  if (chance.percent(25)) return Buffer.from(Array.from({ length: chance.below(4_000) + 1 }, () => chance.below(256)))
  let text = chance.pick(HEADS)
  for (let n = chance.below(4); n >= 0; n--) {
    const at = chance.below(text.length)
    text = text.slice(0, at) + chance.pick(PIECES) + text.slice(at + chance.below(3))
  }
  return Buffer.from(text, "latin1")
}

/** The fault in the service's reaction, if any. */
export const noise = (port: number, chance: Chance): Promise<string | undefined> =>
  new Promise((resolve) => {
    const bytes = bytesOf(chance)
    const socket = connect({ host: "127.0.0.1", port })
    let heard = ""
    const finish = (wrong?: string) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(wrong === undefined ? undefined : `${wrong}: ${JSON.stringify(bytes.toString("latin1"))}`)
    }
    const timer = setTimeout(() => finish("The connection was left open"), ANSWER_MS_MAX)
    socket.on("data", (chunk: Buffer) => (heard += chunk.toString("latin1")))
    socket.on("error", () => finish())
    socket.on("close", () => finish(/HTTP\/1\.1 5\d\d/u.exec(heard)?.[0]))
    socket.end(bytes)
  })
