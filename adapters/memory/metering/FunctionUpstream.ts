/**
 * ToolUpstream over a function of this process, for an app that meters its own code. The call is bounded by the tool's
 * timeout. A failure or defect counts as a failure of the provider: it is logged, and the caller learns only that the tool
 * failed.
 */
import { Clock, Effect, Layer } from "effect"
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

/**
 * Calls of tools are calls of `run`, which returns the result as MCP has it: `content`, and `isError: true` for an error of
 * the tool itself.
 */
export const layer = <E, R>(
  run: (call: UpstreamCall) => Effect.Effect<ToolResult, E, R>
): Layer.Layer<ToolUpstream, never, R> =>
  Layer.effect(
    ToolUpstream,
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
  )

const resulted = (result: ToolResult): Ended => ({
  status: result["isError"] === true ? "error" : "success",
  result,
  problem: undefined
})

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
