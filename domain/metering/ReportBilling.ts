/**
 * Bills a reported call: a hold, and its settlement immediately after.
 */
import { DateTime, Duration, Effect } from "effect"
import type { CatalogEntry } from "../catalog/CatalogStore.ts"
import { BookGuard } from "../ledger/BookGuard.ts"
import { Receipts } from "../receipts/Receipts.ts"
import type { ConsumerId, ReceiptId } from "../shared/Ids.ts"
import { type Microcents, zero } from "../shared/Microcents.ts"
import { CallOverdue } from "./CallEndings.ts"
import { rejectionOf } from "./CallRejections.ts"
import { CallStore, type KeptResult } from "./CallStore.ts"
import { CallTally } from "./CallTally.ts"
import type { Metered, MeterRequest } from "./MeterReport.ts"
import type { Reservation } from "./Grant.ts"
import { NamePins } from "./NamePins.ts"
import { OPENED_WITHIN } from "./Reservations.ts"
import { pinOf } from "./CallPin.ts"

const SETTLE_WITHIN = Duration.seconds(30)

/** A reported call before it is billed. */
export interface ReportedCall {
  readonly request: MeterRequest
  readonly render: (metered: Metered) => KeptResult
  readonly entry: CatalogEntry
  readonly invocationId: ReceiptId
  readonly feeBasisPoints: number
  readonly calledAt: DateTime.Utc
  readonly now: DateTime.Utc
  readonly consumerId: ConsumerId
  readonly price: Microcents
  readonly freeTier: boolean
  readonly reservation: Reservation | undefined
}

/** Made once, not per call: Settlement.ts has the reason. */
export const makeBillReport = Effect.gen(function* () {
  const calls = yield* CallStore
  const book = yield* BookGuard
  const receipts = yield* Receipts
  const tally = yield* CallTally
  const pins = yield* NamePins

  const pinning = ({ tool }: MeterRequest, entry: CatalogEntry) => {
    const pin = pinOf(tool, entry)
    return (pin === undefined ? undefined : pins.pinning(pin)) ?? Effect.void
  }

  return Effect.fnUntraced(function* ({
    request,
    render,
    entry,
    invocationId,
    feeBasisPoints,
    calledAt,
    now,
    consumerId,
    price,
    freeTier,
    reservation
  }: ReportedCall) {
    const { priceVersion, provider, tool } = entry
    const call = { invocationId, consumerId, providerId: provider.id, toolId: tool.id, toolName: tool.toolName }
    const opened = yield* calls.open({
      ...call,
      priceVersion,
      holdAmount: price,
      feeBasisPoints,
      freeTierCalls: freeTier && price > zero ? entry.freeTierCalls : 0,
      origin: "meter",
      openedAt: calledAt,
      deadlineAt: DateTime.addDuration(now, SETTLE_WITHIN),
      idempotency: request.idempotency
    })
    if (opened._tag !== "Opened") return yield* rejectionOf(opened, price)
    // Fails if the ledger is in another mode. The hold is then left to the sweeper, which voids it.
    if (opened.held > zero && !book.isConfirmed()) yield* book.confirm
    if (reservation !== undefined) yield* inTime(reservation)
    const cost = opened.free ? zero : price
    const issued = receipts.issue(
      {
        ...call,
        calledAt,
        durationMs: request.durationMs,
        cost,
        status: request.status
      },
      yield* DateTime.now
    )
    // If it cannot be signed, the hold is left to the sweeper, which voids it.
    const receipt = Effect.isEffect(issued) ? yield* issued : issued
    if (request.status === "success") yield* pinning(request, entry)
    const metered = { entry, receipt, availableMicrocents: opened.availableMicrocents + opened.held - cost }
    const answer = render(metered)
    const closed = yield* calls.close({
      consumerId,
      receipt,
      feeBasisPoints,
      held: opened.held,
      priceVersion,
      origin: "meter",
      tokensInput: request.tokensInput,
      tokensOutput: request.tokensOutput,
      requestId: request.requestId,
      answer: request.idempotency === undefined ? undefined : answer
    })
    if (closed._tag === "AlreadyClosed") return yield* new CallOverdue({ receiptId: invocationId })
    tally.count("meter", request.status)
    return { _tag: "Recorded" as const, metered, answer }
  })
})

/** A call opened this late may have lost its reservation: it is left to the sweeper, which bills nothing. */
const inTime = Effect.fnUntraced(function* ({ invocationId, reservedAt }: Reservation) {
  const until = DateTime.addDuration(reservedAt, OPENED_WITHIN)
  if (DateTime.isGreaterThan(yield* DateTime.now, until)) {
    return yield* Effect.die(new Error(`${invocationId} was opened too long after its reservation`))
  }
})
