/**
 * Settles the call of a task that has ended, by the stored outcome alone: the same settlement as of any call. If a node stops
 * in between, the next one makes the same receipt, which counts once.
 */
import { Effect, Option } from "effect"
import { CatalogStore, entryOn } from "../catalog/CatalogStore.ts"
import type { CallReport } from "../metering/Call.ts"
import type { Unsettled } from "../metering/CallEndings.ts"
import { CallStore } from "../metering/CallStore.ts"
import type { Render } from "../metering/NewCalls.ts"
import { makeSettle } from "../metering/Settlement.ts"
import type { UpstreamResponse } from "../upstream/ToolUpstream.ts"
import { Receipts } from "../receipts/Receipts.ts"
import { zero } from "../shared/Microcents.ts"
import { type CallTask, type FinalTask, TASKS_KEPT_BYTES_MAX } from "./CallTask.ts"
import { answerOf, outcomeIn } from "./TaskOutcome.ts"
import { TaskStore } from "./TaskStore.ts"
import { termsIn } from "./TaskTerms.ts"
import { finalTask } from "./TaskTexts.ts"

type EndedTask = CallTask & { readonly ended: NonNullable<CallTask["ended"]> }

export const makeTaskSettlement = Effect.fnUntraced(function* (render: Render) {
  const store = yield* TaskStore
  const catalog = yield* CatalogStore
  const calls = yield* CallStore
  const receipts = yield* Receipts
  const settle = yield* makeSettle

  /** Returns what the client gets from now on. */
  const settleEnded = Effect.fnUntraced(function* (task: EndedTask): Effect.fn.Return<FinalTask, Unsettled> {
    const { consumerId, createdAt, ended, invocationId } = task
    const terms = termsIn(task.terms)
    const outcome = outcomeIn(ended.outcome)
    const tookMs = Math.max(0, ended.at.epochMilliseconds - terms.startedMs - outcome.waitedMs)
    const latencyMs = terms.latencyMs + tookMs
    const answer = answerOf(outcome, { ...terms, latencyMs })
    const found = yield* catalog.find(terms.toolId)
    // Tools that were listed once are never deleted.
    const entry = entryOn(Option.getOrThrow(found), terms)
    const { reference } = terms
    const { availableMicrocents } = yield* calls.callFunds(consumerId, terms.toolId, ended.at)
    const opened = {
      _tag: "Opened",
      held: terms.held,
      free: terms.free,
      freeCallsLeft: terms.freeCallsLeft,
      availableMicrocents
    } as const
    const settled = settle(
      {
        request: {
          consumerId,
          tool: { toolId: reference.toolId, toolName: reference.toolName, providerId: reference.providerId },
          arguments: {},
          maxCost: undefined,
          idempotency: terms.idempotency,
          requestId: terms.requestId
        },
        entry,
        invocationId,
        openedAt: createdAt,
        feeBasisPoints: terms.feeBasisPoints,
        holdAmount: terms.holdAmount,
        opened,
        // Its caller does not wait for it: the response under its key is kept like that of any call whose caller left.
        holdMs: terms.holdMs,
        progress: { ...FORWARDED, canceled: outcome.canceled },
        render,
        endedAt: ended.at
      },
      answer,
      !outcome.canceled
    )
    const final = yield* Effect.matchEffect(settled, {
      onSuccess: ({ answer: rendered, report: { receipt } }) =>
        Effect.succeed(finalTask(task, ended.at, rendered, receipt, outcome.canceled, outcome.status === "success")),
      onFailure: (failure) =>
        failure._tag === "CallOverdue"
          ? closedBefore(task, { entry, answer, availableMicrocents, freeCallsLeft: terms.freeCallsLeft })
          : Effect.fail(failure)
    })
    yield* store.settle(task.id, final, TASKS_KEPT_BYTES_MAX)
    return final
  })

  /** Closed with another receipt: voided by the sweeper, unless it says that the call was paid. */
  const closedBefore = Effect.fnUntraced(function* (
    task: EndedTask,
    given: Omit<CallReport, "receipt">
  ): Effect.fn.Return<FinalTask, Unsettled> {
    const receipt = Option.getOrUndefined(yield* receipts.find(task.invocationId))
    if (receipt !== undefined && receipt.cost_microcents > zero) {
      return finalTask(
        task,
        task.ended.at,
        render({ ...given, receipt }),
        receipt,
        false,
        given.answer.status === "success"
      )
    }
    const voided = { receipt_id: task.invocationId, cost_microcents: zero }
    const report = { ...given, answer: { ...given.answer, ...VOIDED }, receipt: receipt ?? (voided as never) }
    return finalTask(task, task.ended.at, render(report), voided, false, false)
  })

  return { settle, settleEnded }
})

const FORWARDED = {
  passesCancel: false,
  forwarded: 1,
  ended: true,
  left: true,
  limitMs: 0,
  restart: undefined
} as const

const VOIDED = {
  status: "error",
  result: undefined,
  resultText: undefined,
  problem: {
    kind: "timeout",
    message: "The call passed its deadline before the end of its task was known, so the result is not delivered"
  }
} as const satisfies Partial<UpstreamResponse>
