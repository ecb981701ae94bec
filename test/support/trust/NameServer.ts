/**
 * A name server on loopback with TXT records (RFC 1035), which can refuse, fail and not respond.
 */
import { Effect, type Scope } from "effect"
import { createSocket } from "node:dgram"
import type { AddressInfo } from "node:net"

export type Zone = Map<string, ReadonlyArray<string> | "none" | "failing" | "silent">

const TXT = 16
const CODES = { ok: 0, failing: 2, none: 3 }

/** `address:port` of a server that answers from the current zone. */
export const nameServer = (zone: Zone): Effect.Effect<string, never, Scope.Scope> =>
  Effect.map(
    Effect.acquireRelease(
      Effect.callback<ReturnType<typeof createSocket>>((resume) => {
        const socket = createSocket("udp4")
        socket.on("message", (message, sender) => {
          const answer = answerTo(message, zone)
          if (answer !== undefined) socket.send(answer, sender.port, sender.address)
        })
        socket.bind(0, "127.0.0.1", () => resume(Effect.succeed(socket)))
      }),
      (socket) => Effect.sync(() => socket.close())
    ),
    (socket) => `127.0.0.1:${(socket.address() as AddressInfo).port}`
  )

const answerTo = (message: Buffer, zone: Zone): Buffer | undefined => {
  const { end, name } = questionOf(message)
  const known = zone.get(name) ?? "none"
  if (known === "silent") return undefined
  const records = typeof known === "string" ? [] : known
  const code = typeof known === "string" ? CODES[known] : CODES.ok
  const header = Buffer.alloc(12)
  message.copy(header, 0, 0, 2)
  header.writeUInt16BE(0x8180 | code, 2)
  header.writeUInt16BE(1, 4)
  header.writeUInt16BE(records.length, 6)
  return Buffer.concat([header, message.subarray(12, end), ...records.map(recordOf)])
}

/** The name of the only question, and where it ends. */
const questionOf = (message: Buffer) => {
  const labels: Array<string> = []
  let at = 12
  while (message[at] !== 0) {
    const length = message[at]!
    labels.push(message.toString("latin1", at + 1, at + 1 + length))
    at += length + 1
  }
  return { name: labels.join(".").toLowerCase(), end: at + 5 }
}

/** The name points to that of the question. Text is split into pieces of 255 bytes. */
const recordOf = (text: string): Buffer => {
  const pieces: Array<Buffer> = []
  for (let at = 0; at < text.length; at += 255) {
    const piece = Buffer.from(text.slice(at, at + 255), "latin1")
    pieces.push(Buffer.from([piece.length]), piece)
  }
  const data = Buffer.concat(pieces)
  const head = Buffer.alloc(12)
  head.writeUInt16BE(0xc00c, 0)
  head.writeUInt16BE(TXT, 2)
  head.writeUInt16BE(1, 4)
  head.writeUInt32BE(60, 6)
  head.writeUInt16BE(data.length, 10)
  return Buffer.concat([head, data])
}
