/**
 * A call whose caller disconnected ends as its provider ends it. Checks each receipt once.
 */
import { Effect } from "effect"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import type { ReceiptId } from "../../../domain/shared/Ids.ts"
import type { OpenedCall } from "../books/Facts.ts"
import type { Told } from "../parts/Providers.ts"
import { UPSTREAM_TIMEOUT_MS } from "../parts/Service.ts"
import { wrong } from "./Asking.ts"
import type { World } from "./World.ts"

export const makeLeftCheck = ({ board, facts, lives, providers }: World) => {
  /** Undefined where something else than the caller may have ended it. */
  const ownOutcome = (id: ReceiptId): Receipt["status"] | undefined => {
    const word = providers.forwarded.get(id)?.word ?? ""
    const asked = facts.asked.get(word)
    if (asked === undefined || !asked.left) return undefined
    if (asked.life !== lives() || board.wasDisturbedSince(asked.disturbancesBefore)) return undefined
    return outcomeOf(providers.behaviors.get(word)!)
  }

  /** Its provider asked for input, or works on it, and nothing has come in between: an error is not its own. */
  const isAsking = (id: ReceiptId): boolean => {
    const forwarded = providers.forwarded.get(id)
    const asked = facts.asked.get(forwarded?.word ?? "")
    if (forwarded?.status !== undefined || asked === undefined) return false
    return !board.wasDisturbedSince(asked.disturbancesBefore)
  }

  return Effect.fnUntraced(function* (receipt: Receipt, { call }: OpenedCall) {
    if (call.origin !== "proxy") return
    const { cost_microcents: cost, receipt_id: id, status } = receipt
    const expected = ownOutcome(id)
    if (status !== "error" || !isAsking(id)) facts.outcomes.set(id, { receipt, status: expected ?? status })
    if (expected !== undefined && status !== expected) {
      return yield* wrong(
        "a call that was left is settled by its outcome",
        `${id} says ${status} and costs ${cost}, its provider ended it as ${expected}`
      )
    }
  })
}

const outcomeOf = ({ latencyMs, outcome }: Told): Receipt["status"] => {
  if (latencyMs >= UPSTREAM_TIMEOUT_MS) return "timeout"
  return outcome === "success" || outcome === "rate_limited" ? outcome : "error"
}
