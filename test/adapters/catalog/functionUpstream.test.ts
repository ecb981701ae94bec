/**
 * Tools that are functions of the process: outcomes, the timeout, and what a caller learns of a failure.
 */
import { assert, describe, it } from "@effect/vitest"
import { Effect, Fiber } from "effect"
import { TestClock } from "effect/testing"
import * as FunctionUpstream from "../../../adapters/memory/metering/FunctionUpstream.ts"
import type { ProviderId } from "../../../domain/shared/Ids.ts"
import { type CallStatus, type ToolResult, ToolUpstream } from "../../../domain/upstream/ToolUpstream.ts"
import { upstreamCall } from "../../support/mcp/UpstreamCalls.ts"

const OWN = "a0000000-0000-4000-8000-000000000001"

const calling = <E>(run: () => Effect.Effect<ToolResult, E>) =>
  Effect.gen(function* () {
    const attempts: Array<number> = []
    const { call } = yield* ToolUpstream
    const answer = yield* call(
      upstreamCall("https://not-called.example", {
        timeoutMs: 1_000,
        onForwarded: (attempt) => void attempts.push(attempt)
      })
    )
    return { ...answer, forwarded: attempts }
  }).pipe(Effect.provide(FunctionUpstream.layer(run)))

describe("FunctionUpstream", () => {
  it.effect.each<readonly [result: ToolResult, status: CallStatus]>([
    [{ content: [] }, "success"],
    [{ content: [], isError: true }, "error"]
  ])("returns %j with the status %s", ([result, status]) =>
    Effect.map(
      calling(() => Effect.succeed(result)),
      (answer) => {
        assert.deepInclude(answer, { status, result, problem: undefined, attempts: 1 })
        assert.deepStrictEqual(answer.forwarded, [1])
      }
    )
  )

  it.effect.each<readonly [result: unknown]>([
    [{ content: "nope" }],
    [{}],
    [undefined],
    ["text"],
    [{ content: [{}] }],
    [{ content: [], isError: "no" }],
    [{ content: [{ type: "text", text: 1n }] }]
  ])("counts what is no result of MCP as a failure of the provider (%o)", ([result]) =>
    Effect.map(
      calling(() => Effect.succeed(result as ToolResult)),
      (answer) => {
        assert.deepInclude(answer, { status: "error", result: undefined })
        assert.strictEqual(answer.problem?.kind, "malformed_answer")
      }
    )
  )

  it.effect("beside another upstream serves its own providers, not others that register the same URL", () =>
    Effect.gen(function* () {
      const { call } = yield* ToolUpstream
      const resultOf = (providerId: string) =>
        Effect.map(
          call(upstreamCall("https://own.example/mcp", { providerId: providerId as ProviderId })),
          ({ result }) => result
        )
      assert.deepStrictEqual(yield* resultOf(OWN), { content: [{ type: "own" }] })
      assert.deepStrictEqual(yield* resultOf("a0000000-0000-4000-8000-000000000002"), { content: [{ type: "other" }] })
      assert.deepStrictEqual(yield* resultOf("constructor"), { content: [{ type: "other" }] })
    }).pipe(
      Effect.provide(
        FunctionUpstream.beside(
          {
            [OWN]: () => Effect.succeed({ content: [{ type: "own" }] }),
            "https://own.example/mcp": () => Effect.succeed({ content: [{ type: "by URL" }] })
          },
          FunctionUpstream.layer(() => Effect.succeed({ content: [{ type: "other" }] }))
        )
      )
    )
  )

  it.effect.each<readonly [title: string, run: () => Effect.Effect<ToolResult, string>]>([
    ["a failure", () => Effect.fail("the password is wrong")],
    ["a defect", () => Effect.die(new Error("the password is wrong"))],
    [
      "an exception",
      () => {
        throw new Error("the password is wrong")
      }
    ]
  ])("tells the caller nothing about %s but that the tool failed", ([, run]) =>
    Effect.map(calling(run), ({ problem, result, status }) => {
      assert.deepStrictEqual(
        { problem, result, status },
        {
          problem: { kind: "connection", message: "The tool failed" },
          result: undefined,
          status: "error"
        }
      )
    })
  )

  it.effect("ends a call at the tool's timeout", () =>
    Effect.gen(function* () {
      const fiber = yield* Effect.forkChild(calling(() => Effect.never))
      yield* TestClock.adjust(1_000)
      const { latencyMs, problem, status } = yield* Fiber.join(fiber)
      assert.strictEqual(status, "timeout")
      assert.strictEqual(problem?.message, "The tool did not respond within 1000 ms")
      assert.strictEqual(latencyMs, 1_000)
    })
  )
})
