/**
 * Providers for tests of metering: scripted ones that respond immediately, and one that waits until it is told to
 * respond.
 */
import { Effect } from "effect"
import {
  type Answer,
  json,
  result,
  type ScriptedServer,
  scriptedServer,
  text
} from "../../../testing/mcp/ScriptedServer.ts"

export const fine: Answer = (seen, response) => json(response, result(seen, text("fine")))

export const providing = (onCall: Answer) => scriptedServer({ era: "modern", onCall })

/** Answers every call with this result. */
export const resulting = (value: unknown) => providing((seen, response) => json(response, result(seen, value)))

export const forwarded = (server: ScriptedServer): number => server.of("tools/call").length

export interface SlowProvider {
  readonly server: ScriptedServer
  /** Responds to all waiting callers, and from now on immediately. */
  readonly answer: Effect.Effect<void>
  /** Callers that disconnected before the response. */
  left(): number
}

export const slowProvider = (onceAnswering: Answer = fine) =>
  Effect.gen(function* () {
    const waiting: Array<() => void> = []
    let answering = false
    let left = 0
    const server = yield* providing((seen, response, n) => {
      if (answering) return onceAnswering(seen, response, n)
      response.on("close", () => {
        if (!response.writableFinished) left++
      })
      waiting.push(() => onceAnswering(seen, response, n))
    })
    const answer = Effect.sync(() => {
      answering = true
      for (const one of waiting.splice(0)) one()
    })
    const slow: SlowProvider = { server, answer, left: () => left }
    return slow
  })
