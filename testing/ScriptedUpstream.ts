/**
 * Tools whose responses a test writes. A call that takes longer than its tool allows ends in a time-out, by the Clock: a test
 * under TestClock decides how much time passes.
 */
import { Clock, Context, Effect, Layer } from "effect"
import {
  ToolUpstream,
  type ToolResult,
  type UpstreamCall,
  type UpstreamProblem,
  type UpstreamResponse
} from "../domain/upstream/ToolUpstream.ts"
import type { ToolId } from "../domain/shared/Ids.ts"

/** What a provider does with a call. */
export type ToolBehavior = (
  call: UpstreamCall
) => Effect.Effect<Pick<UpstreamResponse, "problem" | "result" | "status">>

/** Returns this result, or the one that a function makes of the arguments. */
export const answers =
  (result: ToolResult | ((given: UpstreamCall["arguments"]) => ToolResult)): ToolBehavior =>
  (call) =>
    Effect.sync(() => ({
      status: "success",
      result: typeof result === "function" ? result(call.arguments) : result,
      problem: undefined
    }))

/** Returns one text as the tool's result. */
export const answersText = (text: string): ToolBehavior => answers({ content: [{ type: "text", text }] })

/** The tool's own error: there is a result, and it is not billed as a success. */
export const answersWithError =
  (text: string): ToolBehavior =>
  () =>
    Effect.succeed({
      status: "error",
      result: { content: [{ type: "text", text }], isError: true },
      problem: undefined
    })

/** No result arrives: the call ends as an error of the provider. */
export const fails =
  (kind: UpstreamProblem["kind"] = "connection", message = "The provider failed, as the test scripted"): ToolBehavior =>
  () =>
    Effect.succeed({ status: "error", result: undefined, problem: { kind, message } })

/** Never returns: the call ends by its time limit. */
export const neverAnswers: ToolBehavior = () => Effect.never

/** The calls that reached a tool, and the behavior of tools. */
export class ToolScript extends Context.Service<
  ToolScript,
  {
    /** Calls that reached a provider, in order. */
    readonly calls: ReadonlyArray<UpstreamCall>
    /** From now on. Without a behavior a tool returns the text "ok". */
    behave(toolId: ToolId, behavior: ToolBehavior): void
  }
>()("agent-tool-billing/testing/ToolScript") {}

const OK = answersText("ok")

export const layer: Layer.Layer<ToolUpstream | ToolScript> = Layer.effectContext(
  Effect.sync(() => {
    const calls: Array<UpstreamCall> = []
    const behaviors = new Map<ToolId, ToolBehavior>()

    const call = Effect.fnUntraced(function* (asked: UpstreamCall) {
      const startedMs = yield* Clock.currentTimeMillis
      calls.push(asked)
      asked.onForwarded?.(1)
      const { problem, result, status } = yield* Effect.timeoutOrElse((behaviors.get(asked.toolId) ?? OK)(asked), {
        duration: asked.timeoutMs,
        orElse: () => Effect.succeed(timedOut)
      })
      const latencyMs = (yield* Clock.currentTimeMillis) - startedMs
      return { status, result, problem, attempts: 1, latencyMs, requestBytes: 0, responseBytes: 0 }
    })

    return Context.make(ToolUpstream, { call }).pipe(
      Context.add(ToolScript, { calls, behave: (toolId, behavior) => void behaviors.set(toolId, behavior) })
    )
  })
)

const timedOut = {
  status: "timeout",
  result: undefined,
  problem: { kind: "timeout", message: "The provider did not respond in time" }
} as const
