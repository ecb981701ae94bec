/**
 * A request whose time is up gets its response at once, whatever its work waits for. The work is interrupted, unless it must
 * not be, such as the settlement of a call: that runs to completion without its caller. When the scope closes, the time of
 * every request is up, except for calls: `Metering` closes later, and lets them finish.
 */
import { Cause, Context, Effect, Exit, Fiber } from "effect"
import { RequestTimedOut } from "./Failures.ts"
import type { HandlerError } from "./HandlerErrors.ts"
import type { Stage } from "./RequestContext.ts"
import type { EncodedReply } from "./Route.ts"
import { type Deadline, makeDeadlines } from "../../../domain/shared/Deadlines.ts"

export const RequestTimeoutMs = Context.Reference<number>("agent-tool-billing/adapters/http/RequestTimeoutMs", {
  defaultValue: () => 30_000
})

/** How long a shutdown waits for work whose caller got a response already. The sweeper ends calls that are not done then. */
const LATE_WORK_WAIT_MAX = "10 seconds"

type Answer = Effect.Effect<EncodedReply, HandlerError>

export const makeTimeout = Effect.gen(function* () {
  const timeoutMs = yield* RequestTimeoutMs
  const deadlines = yield* makeDeadlines
  const late = new Set<Fiber.Fiber<unknown, unknown>>()
  let closing = false
  yield* Effect.addFinalizer(() =>
    Effect.suspend(() => {
      closing = true
      deadlines.endAll()
      return Effect.timeoutOption(Fiber.awaitAll(late), LATE_WORK_WAIT_MAX)
    })
  )

  const logUnseenFailure = (exit: Exit.Exit<unknown, unknown>, services: Context.Context<never>): void => {
    if (Exit.isSuccess(exit) || Cause.hasInterruptsOnly(exit.cause)) return
    Effect.runForkWith(services)(
      Effect.logWarning("Work that went on after its caller was answered failed", exit.cause)
    )
  }

  const timeout: Stage = (context, next) =>
    Effect.withFiber((caller) => {
      // Read now: a fiber that has ended has no context.
      const services = caller.context
      let early: Answer | undefined
      let resume: ((answer: Answer) => void) | undefined
      let continues: (() => boolean) | undefined
      const endWith = (answer: Answer): void => {
        late.add(worker)
        if (continues?.() !== true) worker.interruptUnsafe()
        early = answer
        resume?.(answer)
      }
      const deadline: Deadline = deadlines.start(timeoutMs, () => {
        // To ask would count as the caller's cancellation.
        if (closing && continues !== undefined) return
        endWith(Effect.fail(new RequestTimedOut({ kind: context.route.late })))
      })
      context.clock = {
        pause: () => deadline.restart(Number.POSITIVE_INFINITY),
        restart: (extraMs) => deadline.restart(timeoutMs + extraMs),
        provideLeave: (asked) => {
          continues = asked
        },
        answer: (reply) => {
          if (deadline.end()) endWith(Effect.succeed(reply))
        }
      }
      const worker = Effect.runForkWith(services)(Effect.suspend(() => next(context)))
      const ended = worker.pollUnsafe()
      if (ended !== undefined) {
        deadline.end()
        return ended
      }
      return Effect.callback<EncodedReply, HandlerError>((resumeCaller) => {
        if (early === undefined) resume = resumeCaller
        else resumeCaller(early)
        worker.addObserver((exit) => {
          deadline.end()
          if (late.size > 0 && late.delete(worker)) return logUnseenFailure(exit, services)
          resumeCaller(exit)
        })
        return Effect.suspend(() => {
          if (continues?.() !== true) return Fiber.interrupt(worker)
          late.add(worker)
          return Effect.void
        })
      })
    })
  return timeout
})
