/**
 * Disputes for rules of contracts: complete, with new ids; a rule overrides fields.
 */
import { DateTime } from "effect"
import { randomUUID } from "node:crypto"
import { ConsumerId, ProviderId, ReceiptId } from "../../../domain/shared/Ids.ts"
import { Microcents, zero } from "../../../domain/shared/Microcents.ts"
import { type Dispute, DisputeId, type DisputeStatus } from "../../../domain/trust/DisputeStore.ts"

export const at = (minute: number) => DateTime.makeUnsafe(Date.UTC(2026, 10, 20, 12, minute))
let made = 0

/** Increasing IDs, as those of UUID version 7. */
export const aDispute = (changes: Partial<Dispute> = {}): Dispute => ({
  id: DisputeId.make(`${String(++made).padStart(8, "0")}-0000-7000-8000-000000000000`),
  receiptId: ReceiptId.make(`rcpt_${randomUUID().replaceAll("-", "")}`),
  consumerId: ConsumerId.make(randomUUID()),
  providerId: ProviderId.make(randomUUID()),
  cost: Microcents.make(500n),
  fee: Microcents.make(50n),
  lot: "2026-11-20",
  frozen: changes.cost === undefined ? Microcents.make(450n) : zero,
  outcome: "success",
  cause: undefined,
  unfit: false,
  reason: "quality",
  filedBy: "agent",
  claim: { text: "It’s “wrong” 𝄞", evidence: '{"a":1}', reference: "SUP-1042" },
  answer: undefined,
  status: "filed",
  decision: undefined,
  createdAt: at(0),
  respondBy: at(30),
  decideBy: undefined,
  ...changes
})

export const decided = (dispute: Dispute, status: DisputeStatus): Dispute => ({
  ...dispute,
  answer: { text: "no", evidence: undefined, at: at(1) },
  status,
  decision: {
    by: "operator",
    amount: status === "resolved_denied" ? zero : dispute.cost,
    refunded: status === "resolved_denied" ? zero : dispute.fee,
    note: "so",
    at: at(2)
  }
})
