/**
 * An INFO line for every 4xx or 5xx response: in each second the first ten with 4xx, which any client can cause, the first
 * hundred with 5xx, and a count of the others. It contains only words of the contract, never paths or values of clients.
 */
import { Clock, Effect, Fiber, Schedule } from "effect"
import { monotonicMs } from "../../../domain/shared/Time.ts"
import type { Stage } from "./RequestContext.ts"
import type { WebResponse } from "./WebRequest.ts"

export const LINES_PER_SECOND_MAX = 10
export const FAILURES_PER_SECOND_MAX = 100
const WINDOW = "1 second"
/** The code of a problem is within this many characters. */
const CODE_CHARS_MAX = 2_000

export type ProblemLog = (answer: WebResponse, startedMs: number) => Effect.Effect<void>

export const makeProblemLog = Effect.gen(function* () {
  let logged = 0
  let failures = 0
  let unlogged = 0
  const clock = yield* Clock.Clock
  const context = yield* Effect.context<never>()
  const run = Effect.runForkWith(context)

  const nextWindow = Effect.suspend(() => {
    const [more, isOver] = [unlogged, logged + failures === 0]
    logged = 0
    failures = 0
    unlogged = 0
    if (more === 0) return Effect.succeed(isOver)
    const line = Effect.logInfo(`${more} more requests were answered with 4xx or 5xx in that second`)
    return Effect.as(Effect.annotateLogs(line, { requests: more }), false)
  })
  /** Runs until a second passes without a problem. */
  const windows = Effect.repeat(Effect.delay(nextWindow, WINDOW), {
    until: (isOver) => isOver,
    schedule: Schedule.forever
  })
  let isCounting = false
  let counting: Fiber.Fiber<unknown> | undefined
  yield* Effect.addFinalizer(() => (counting === undefined ? Effect.void : Fiber.interrupt(counting)))

  const isDue = (status: number): boolean => {
    if (!isCounting) {
      isCounting = true
      counting = run(Effect.andThen(windows, () => Effect.sync(() => (isCounting = false))))
    }
    if (status >= 500 && failures < FAILURES_PER_SECOND_MAX) failures++
    else if (status < 500 && logged < LINES_PER_SECOND_MAX) logged++
    else {
      unlogged++
      return false
    }
    return true
  }

  const logProblem: ProblemLog = (answer, startedMs) =>
    isDue(answer.status)
      ? Effect.annotateLogs(Effect.logInfo("A request was answered with a problem"), {
          status: answer.status,
          code: codeOf(answer),
          duration_ms: Math.round(monotonicMs(clock) - startedMs)
        })
      : Effect.void
  return logProblem
})

export const logProblems =
  (logProblem: ProblemLog): Stage<WebResponse, never> =>
  (context, next) =>
    Effect.flatMap(next(context), (answer) =>
      answer.status < 400 ? Effect.succeed(answer) : Effect.as(logProblem(answer, context.startedMs), answer)
    )

const codeOf = ({ body }: WebResponse): string =>
  typeof body === "string" ? (/"code":"([A-Z_]{1,40})"/u.exec(body.slice(0, CODE_CHARS_MAX))?.[1] ?? "-") : "-"
