/**
 * A connection between the service and its database that a test can cut, freeze, or end at a server that rejects
 * every client.
 */
import { Context, Effect, Layer, Redacted } from "effect"
import { type AddressInfo, connect, createServer, type Socket } from "node:net"
import { PostgresTest } from "./PostgresTest.ts"

export class DatabaseLink extends Context.Service<
  DatabaseLink,
  {
    /** The database's address on this side of the link. */
    readonly url: Redacted.Redacted
    readonly cut: Effect.Effect<void>
    readonly freeze: Effect.Effect<void>
    /**
     * As while a server starts (57P03) or has too many connections (53300): existing connections break, new ones are
     * rejected.
     */
    readonly refuse: (sqlState: string) => Effect.Effect<void>
    /** Restores the link; what was frozen continues. */
    readonly restore: Effect.Effect<void>
  }
>()("agent-tool-billing/test/support/DatabaseLink") {
  /** To the test's database. */
  static readonly layer = Layer.effect(
    DatabaseLink,
    Effect.flatMap(PostgresTest, ({ url }) => linkTo(url))
  )
}

type State = "whole" | "cut" | "frozen" | "refusing"

const linkTo = Effect.fnUntraced(function* (database: Redacted.Redacted) {
  const target = new URL(Redacted.value(database))
  const ends = new Set<Socket>()
  let state: State = "whole"
  let refusal = ""

  const join = (near: Socket): void => {
    if (state === "cut") return void near.resetAndDestroy()
    if (state === "refusing") return void near.once("data", () => near.end(fatal(refusal))).on("error", () => {})
    const far = connect({ host: target.hostname, port: Number(target.port) })
    for (const [end, other] of [
      [near, far],
      [far, near]
    ] as const) {
      ends.add(end)
      end.on("data", (chunk) => other.write(chunk))
      end.on("error", () => other.destroy())
      end.on("close", () => {
        ends.delete(end)
        other.destroy()
      })
      if (state === "frozen") end.pause()
    }
  }

  const change = (next: State) =>
    Effect.sync(() => {
      state = next
      for (const end of ends) {
        if (next === "cut" || next === "refusing") end.resetAndDestroy()
        else if (next === "frozen") end.pause()
        else end.resume()
      }
    })

  const server = yield* Effect.acquireRelease(
    Effect.promise(
      () =>
        new Promise<ReturnType<typeof createServer>>((resolve) => {
          const listening = createServer(join).listen(0, "127.0.0.1", () => resolve(listening))
        })
    ),
    (listening) =>
      Effect.sync(() => {
        for (const end of ends) end.destroy()
        listening.close()
      })
  )
  const url = new URL(target)
  url.hostname = "127.0.0.1"
  url.port = String((server.address() as AddressInfo).port)
  return DatabaseLink.of({
    url: Redacted.make(url.href),
    cut: change("cut"),
    freeze: change("frozen"),
    refuse: (sqlState) => {
      refusal = sqlState
      return change("refusing")
    },
    restore: change("whole")
  })
})

/** PostgreSQL's fatal error to a new connection. */
const fatal = (sqlState: string): Buffer => {
  const fields = Buffer.from(`SFATAL\0VFATAL\0C${sqlState}\0Mnobody is let in\0\0`)
  const head = Buffer.from("E\0\0\0\0")
  head.writeInt32BE(fields.length + 4, 1)
  return Buffer.concat([head, fields])
}
