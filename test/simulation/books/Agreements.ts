/**
 * A caller never pays more than it agreed to: its own maximum, else the published price. Checks each receipt once.
 */
import { Effect } from "effect"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import type { Chargeback } from "../parts/Processor.ts"
import { wrong } from "../world/Asking.ts"
import type { World } from "../world/World.ts"
import type { OpenedCall } from "./Facts.ts"
import type { Published } from "./Published.ts"

export const makeAgreementCheck = ({ facts, processor, providers }: World) => {
  const isPaidAsAgreed = ({ cost_microcents: cost, receipt_id: id, status }: Receipt, { call }: OpenedCall) => {
    const asked = facts.asked.get(providers.forwarded.get(id)?.word ?? "")
    if (cost === 0n || asked === undefined) return Effect.void
    const most = (published: Published): bigint =>
      BigInt(Math.max(published.mostAt(asked.sentAtMs), published.mostAt(call.openedAt.epochMilliseconds)))
    const agreed = asked.cap ?? most(asked.tool.price)
    if (cost > agreed) {
      return wrong("no one pays more than agreed", `${id} costs ${cost}, and ${agreed} was agreed (cap ${asked.cap})`)
    }
    if (status !== "success" && most(asked.tool.attempts) === 0n) {
      return wrong("no one pays more than agreed", `${id} (${status}) costs ${cost} by terms that do not hold yet`)
    }
    return Effect.void
  }

  /** From the opening of a bank's dispute on, once the service has said that it knows. */
  const isSpentFreely = ({ agent_id, cost_microcents: cost, receipt_id: id }: Receipt, openedAtMs: number) => {
    const word = providers.forwarded.get(id)?.word
    for (const chargeback of processor.chargebacks.values()) {
      if (chargeback.ordered.consumerId !== agent_id) continue
      if (word === undefined ? !isReportedWhile(chargeback, openedAtMs) : !isSentWhile(chargeback, word, openedAtMs))
        continue
      return wrong("a chargeback freezes", `${id} over ${cost} was opened after the chargeback of ${agent_id}`)
    }
    return Effect.void
  }

  const isSentWhile = (chargeback: Chargeback, word: string, openedAtMs: number): boolean => {
    const { endedAfterWord = Infinity, endedAtMs = Infinity, openedBy } = chargeback
    const number = Number(word.slice("word-".length))
    const knownAfterWord = processor.acknowledgedAfterWord.get(openedBy) ?? Infinity
    return number > knownAfterWord && number <= endedAfterWord && openedAtMs < endedAtMs
  }

  const isReportedWhile = ({ endedAtMs = Infinity, openedBy }: Chargeback, openedAtMs: number): boolean => {
    const knownAtMs = processor.acknowledgedAtMs.get(openedBy) ?? Infinity
    return openedAtMs - LATE_MS > knownAtMs && openedAtMs + LATE_MS < endedAtMs
  }

  return Effect.fnUntraced(function* (receipt: Receipt, opened: OpenedCall) {
    yield* isPaidAsAgreed(receipt, opened)
    if (receipt.cost_microcents > 0n) yield* isSpentFreely(receipt, opened.openedAtMs)
  })
}

/** A report may have been sent before it was opened: ports are late by that much at most. */
const LATE_MS = 5 * 60_000
