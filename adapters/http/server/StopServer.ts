/**
 * How a server stops: first it tells its clients and load balancers, then it closes what is idle, and completes what is in
 * flight. A connection that is closed while a client sends on it would fail that request.
 */
import { Duration, Effect, Fiber } from "effect"
import type { Server } from "node:http"
import type { Dispatcher } from "../pipeline/Dispatcher.ts"
import type { WebResponse } from "../pipeline/WebRequest.ts"
import type { Connections } from "./Connections.ts"

/** Of a server whose responses already announce the end of their connections. */
export interface Stopping {
  readonly server: Server
  readonly connections: Connections
  readonly running: ReadonlySet<Fiber.Fiber<WebResponse>>
  readonly dispatcher: Dispatcher["Service"]
  readonly drain: Duration.Input
  readonly noticeMs: number
}

const NOTICE_CHECK = Duration.millis(20)
const IDLE_SWEEP = Duration.millis(50)
/** For settling calls that are canceled at the end of the drain. */
const SETTLE_WAIT_MAX = Duration.seconds(5)
/** For ending requests whose connections were closed. */
const CLOSING_WAIT_MAX = Duration.seconds(1)

export const stopServer = (stopping: Stopping) => Effect.andThen(giveNotice(stopping), close(stopping))

/** New connections are still served. Ends early when none is open. */
const giveNotice = ({ connections, dispatcher, noticeMs }: Stopping) => {
  const noneOpen = Effect.repeat(
    Effect.delay(
      Effect.sync(() => connections.count === 0),
      NOTICE_CHECK
    ),
    { until: (isTrue) => isTrue }
  )
  return Effect.andThen(
    dispatcher.beginDrain,
    Effect.suspend(() => (connections.count === 0 ? Effect.void : Effect.timeoutOption(noneOpen, noticeMs)))
  )
}

/**
 * New connections are rejected from now on, and idle ones are closed: after the notice, those whose clients have sent
 * nothing during it. Calls in flight may end, whether or not their callers have disconnected. Those in flight at the end
 * of the drain are canceled and settled.
 */
const close = ({ dispatcher: { cutOff, endStreams, idle }, drain, running, server }: Stopping) =>
  Effect.callback<void>((resume) => {
    server.close(() => resume(Effect.void))
    Effect.runSync(endStreams)
  }).pipe(
    Effect.race(closeIdleForever(server)),
    Effect.andThen(Effect.suspend(() => Fiber.awaitAll(running))),
    Effect.andThen(idle),
    Effect.timeoutOption(drain),
    // Before connections are closed, which would look like disconnecting callers.
    Effect.andThen(Effect.timeoutOption(cutOff, SETTLE_WAIT_MAX)),
    Effect.andThen(Effect.sync(() => server.closeAllConnections())),
    Effect.andThen(Effect.suspend(() => Effect.timeoutOption(Fiber.awaitAll(running), CLOSING_WAIT_MAX)))
  )

/** A keep-alive connection becomes idle when its call ends, so this is repeated until all are closed. */
const closeIdleForever = (server: Server): Effect.Effect<never> =>
  Effect.sync(() => server.closeIdleConnections()).pipe(Effect.delay(IDLE_SWEEP), Effect.forever)
