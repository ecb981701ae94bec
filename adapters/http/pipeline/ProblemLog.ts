/**
 * A line for every answer with 4xx or 5xx, the first of each second; of the others it is said how many there were. In words
 * of the contract only: whatever a client calls a path or sends in it stays out.
 */
import { Effect, Fiber, Schedule } from "effect"
import { type RequestNotes, noting } from "./RequestNotes.ts"
import type { WebAnswer } from "./WebRequest.ts"

export const LINES_PER_SECOND_MAX = 10
const WINDOW = "1 second"
/** Where a problem has its code. */
const CODE_CHARS_MAX = 2_000

export const makeProblemLog = Effect.gen(function* () {
  let told = 0
  let untold = 0
  const context = yield* Effect.context<never>()
  const run = Effect.runForkWith(context)

  const nextWindow = Effect.suspend(() => {
    const [more, isOver] = [untold, told === 0]
    told = 0
    untold = 0
    if (more === 0) return Effect.succeed(isOver)
    const line = Effect.logInfo(`${more} more requests were answered with 4xx or 5xx in that second`)
    return Effect.as(Effect.annotateLogs(line, { requests: more }), false)
  })
  /** Runs as long as there is something to tell. */
  const windows = Effect.repeat(Effect.delay(nextWindow, WINDOW), {
    until: (isOver) => isOver,
    schedule: Schedule.forever
  })
  let isCounting = false
  let counting: Fiber.Fiber<unknown> | undefined
  yield* Effect.addFinalizer(() => (counting === undefined ? Effect.void : Fiber.interrupt(counting)))

  const count = (): boolean => {
    if (!isCounting) {
      isCounting = true
      counting = run(Effect.andThen(windows, () => Effect.sync(() => (isCounting = false))))
    }
    if (told === LINES_PER_SECOND_MAX) untold++
    else told++
    return untold === 0
  }

  /** Of an answer that is a problem. */
  return (notes: RequestNotes, answer: WebAnswer, startedMs: number): Effect.Effect<void> =>
    count()
      ? noting(
          notes,
          Effect.annotateLogs(Effect.logInfo("A request was answered with a problem"), {
            status: answer.status,
            code: codeOf(answer),
            duration_ms: Math.round(performance.now() - startedMs)
          })
        )
      : Effect.void
})

const codeOf = ({ body }: WebAnswer): string =>
  typeof body === "string" ? (/"code":"([A-Z_]{1,40})"/u.exec(body.slice(0, CODE_CHARS_MAX))?.[1] ?? "-") : "-"
