/**
 * A connection to PostgreSQL that is lost after the server has executed a request and before its response arrives.
 */
import { Redacted } from "effect"
import { connect } from "node:net"
import { Duplex } from "node:stream"

/** Long enough for the server to commit. */
const SWALLOWED_MS = 40

/** After `answers` packets of the server, discards the next ones and breaks the connection. */
export const lossyStream = (url: string, answers: () => number) => (): Duplex => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port), noDelay: true })
  let left = answers()
  const stream = new Duplex({
    read: () => socket.resume(),
    write: (chunk, _encoding, done) => socket.write(chunk, done),
    final: (done) => socket.end(done),
    destroy: (error, done) => {
      socket.destroy()
      done(error)
    }
  })
  socket.on("data", (chunk) => {
    if (left-- > 0) stream.push(chunk)
    else if (left === -1) setTimeout(() => stream.destroy(new Error("The connection was lost")), SWALLOWED_MS)
  })
  socket.on("error", (error) => stream.destroy(error))
  socket.on("close", () => stream.destroy())
  return stream
}

/** Of a client whose connections lead to one server, also where a cluster has others: without a URL it cannot find them. */
export const lossyConfig = (url: Redacted.Redacted, answers: () => number) => {
  const { hostname, password, pathname, port, username } = new URL(Redacted.value(url))
  return {
    host: hostname,
    port: Number(port),
    database: pathname.slice(1),
    username,
    password: Redacted.make(password),
    stream: lossyStream(Redacted.value(url), answers)
  }
}
