/**
 * ToolUpstream over a function of this process, for an app that meters its own code. The call is bounded by the tool's
 * timeout. A failure or defect counts as a failure of the provider: it is logged, and the caller learns only that the tool
 * failed.
 */
import { Clock, Effect, Layer, Schema } from "effect"
import { monotonicMs } from "../../../domain/shared/Time.ts"
import {
  type CallStatus,
  type ToolResult,
  ToolUpstream,
  type UpstreamCall,
  type UpstreamProblem
} from "../../../domain/upstream/ToolUpstream.ts"

interface Ended {
  readonly status: CallStatus
  readonly result: ToolResult | undefined
  readonly problem: UpstreamProblem | undefined
}

type Run<E, R> = (call: UpstreamCall) => Effect.Effect<ToolResult, E, R>

/**
 * Calls of tools are calls of `run`, which returns the result as MCP has it: `content`, and `isError: true` for an error of
 * the tool itself. Anything else is a failure of the provider.
 */
export const layer = <E, R>(run: Run<E, R>): Layer.Layer<ToolUpstream, never, R> =>
  Layer.effect(ToolUpstream, make(run))

/**
 * Functions for the calls of some providers, by the provider's id. `upstream` gets all other calls. An endpoint's URL would not
 * do: any provider can register any URL.
 */
export const beside = <E, R, Out, E2, R2>(
  functions: Readonly<Record<string, Run<E, R>>>,
  upstream: Layer.Layer<Out | ToolUpstream, E2, R2>
): Layer.Layer<Out | ToolUpstream, E2, R | R2> =>
  Layer.effect(
    ToolUpstream,
    Effect.gen(function* () {
      const others = yield* ToolUpstream
      const own = yield* make((call) => functions[call.providerId]!(call))
      return ToolUpstream.of({
        call: (call) => (Object.hasOwn(functions, call.providerId) ? own : others).call(call)
      })
    })
  ).pipe(Layer.provideMerge(upstream))

const make = <E, R>(run: Run<E, R>) =>
  Effect.gen(function* () {
    const context = yield* Effect.context<R>()
    const clock = yield* Clock.Clock

    const call = Effect.fnUntraced(function* (request: UpstreamCall) {
      const startedMs = monotonicMs(clock)
      request.onForwarded?.(1)
      const ended = yield* Effect.suspend(() => run(request)).pipe(
        Effect.map(resulted),
        Effect.timeoutOrElse({ duration: request.timeoutMs, orElse: () => Effect.succeed(timedOut(request)) }),
        Effect.tapCause((cause) => Effect.logWarning(`The tool ${request.toolName} failed`, cause)),
        Effect.orElseSucceed(() => failed),
        Effect.catchDefect(() => Effect.succeed(failed)),
        Effect.provideContext(context)
      )
      const latencyMs = Math.round(monotonicMs(clock) - startedMs)
      return { ...ended, attempts: 1, latencyMs, requestBytes: 0, responseBytes: 0 }
    })

    return ToolUpstream.of({ call })
  })

const isResult = Schema.is(
  Schema.Struct({
    content: Schema.Array(Schema.Struct({ type: Schema.String })),
    isError: Schema.optional(Schema.Boolean),
    structuredContent: Schema.optional(Schema.Unknown)
  })
)

const resulted = (result: ToolResult): Ended =>
  isResult(result) && isJson(result)
    ? { status: result.isError === true ? "error" : "success", result, problem: undefined }
    : malformed

const isJson = (value: unknown): boolean => {
  try {
    return JSON.stringify(value) !== undefined
  } catch {
    return false
  }
}

const malformed: Ended = {
  status: "error",
  result: undefined,
  problem: { kind: "malformed_answer", message: "The tool returned no result of MCP: `content` is an array of blocks" }
}

const timedOut = ({ timeoutMs }: UpstreamCall): Ended => ({
  status: "timeout",
  result: undefined,
  problem: { kind: "timeout", message: `The tool did not respond within ${timeoutMs} ms` }
})

const failed: Ended = {
  status: "error",
  result: undefined,
  problem: { kind: "connection", message: "The tool failed" }
}
