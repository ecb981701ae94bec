/**
 * What the world knows without the service: its members, requests, responses, and started calls, disputes and payouts. The
 * service's records are compared with it.
 */
import type { Payout } from "../../../domain/earnings/PayoutStore.ts"
import type { Budget } from "../../../domain/ledger/Budgets.ts"
import type { Posting } from "../../../domain/ledger/Transfer.ts"
import type { Hash } from "../../../domain/log/MerkleTree.ts"
import type { OpenCall } from "../../../domain/metering/CallStore.ts"
import type { Withdrawal } from "../../../domain/payments/Withdrawals.ts"
import type { Receipt } from "../../../domain/receipts/Receipts.ts"
import type { ConsumerId, PayoutId, ReceiptId, WithdrawalId } from "../../../domain/shared/Ids.ts"
import type { DisputeId } from "../../../domain/trust/DisputeStore.ts"
import type { Answer } from "../../support/checks/Answer.ts"
import type { Member } from "../../support/market/Market.ts"
import type { Call } from "../../support/market/ServiceUnderTest.ts"
import type { Listener } from "../parts/Ports.ts"
import { type Capped, countHeld, type Reserved } from "../world/Caps.ts"
import type { Published } from "./Published.ts"
import type { ToolTerms } from "./ToolTerms.ts"

/** Accounts that act together. */
export interface Ring {
  readonly consumers: Array<Member>
  readonly providers: Array<Member>
}

export interface OfferedTool {
  readonly id: string
  readonly name: string
  readonly provider: Member
  /** As they were sent last. */
  terms: ToolTerms
  /** By version, from 1 on. */
  readonly prices: Array<number>
  readonly price: Published
  readonly maximum: Published
  /** 1 where failures are charged, too. */
  readonly attempts: Published
}

/** What a caller agreed to when it sent a call. */
export interface Asked {
  readonly tool: OfferedTool
  readonly sentAtMs: number
  readonly cap: bigint | undefined
  /** Of the switchboard and of the process when it was sent: see `CallsThatWereLeft`. */
  readonly disturbancesBefore: number
  readonly life: number
  /** The caller went away before the answer came. */
  left: boolean
}

/** A platform fee that the operator asked for, whether or not it was carried out. */
export interface AskedFee {
  readonly basisPoints: number
  readonly sentAtMs: number
  /** Its success was received. */
  isDone: boolean
}

/** Of the operator, from its success on. */
export interface OperatorFreeze {
  readonly consumerId: ConsumerId
  readonly fromMs: number
  /** Requests with later words were sent after it. */
  readonly afterWord: number
  /** When the operator asked to end it. */
  liftedAtMs: number | undefined
  liftedAfterWord: number
}

/** A request that may be repeated byte for byte. */
export interface Sent {
  readonly word: string
  /** A repetition uses the key that its sender has by then. */
  readonly by: Member
  readonly call: Call
  readonly sentAtMs: number
  /** The first success, which every later one repeats. */
  answered: string | undefined
}

/** A request under a key that is no call. */
export interface Keyed {
  readonly call: Call
  /** What is the same in every answer; all of it where there is no name. */
  readonly sameAt: string | undefined
  readonly sentAtMs: number
  answered: string | undefined
  /** Of a success, whether it is the first answer or one to the same request later. */
  readonly learn: ((answer: Answer) => void) | undefined
}

export interface OpenedCall {
  readonly call: OpenCall
  readonly held: bigint
  readonly free: boolean
  /** By the clock, whatever time its report gives. */
  readonly openedAtMs: number
}

/** Said to a client: it holds from then on. */
export interface Acknowledged {
  readonly receiptId: ReceiptId
  readonly costMicrocents: number
  readonly status: string
}

/** How a proxied call ended, by its provider. */
export interface Outcome {
  readonly receipt: Receipt
  readonly status: Receipt["status"]
}

export interface Facts {
  /** Each is one object for good: its key changes when it is rotated. */
  readonly consumers: Array<Member>
  readonly providers: Array<Member>
  readonly tools: Array<OfferedTool>
  /** Keys whose grace time is over at that moment. */
  readonly rotated: Array<{ readonly key: string; readonly endsAtMs: number }>
  readonly granted: Array<{
    readonly consumer: Member
    readonly provider: Member
    readonly id: string
    readonly cap: bigint
  }>
  /** As they were made, with the calls that count against them. */
  readonly budgets: Array<Capped>
  /** In grants, for calls that may or may not have been billed. */
  readonly reserved: Array<Reserved>
  readonly sent: Array<Sent>
  /** By the word of the request. */
  readonly asked: Map<string, Asked>
  readonly rings: Map<number, Ring>
  /** When each account asked to be registered. */
  readonly joinedAtMs: Map<string, number>
  readonly keyed: Array<Keyed>
  readonly acknowledged: Array<Acknowledged>
  /** Until they are known to be closed. */
  readonly pending: Map<ReceiptId, OpenedCall>
  readonly receipts: Map<ReceiptId, Receipt>
  readonly outcomes: Map<ReceiptId, Outcome>
  /** By provider. */
  readonly fees: Map<string, Array<AskedFee>>
  readonly freezes: Array<OperatorFreeze>
  /** The fee with which each call was held, in basis points. */
  readonly heldFees: Map<ReceiptId, number>
  /** Receipts of which it is not known that they are in the log, and those that must be there by now. */
  readonly unplaced: Set<ReceiptId>
  readonly due: Set<ReceiptId>
  readonly disputes: Set<DisputeId>
  /** Consumers that the operator has given credit. */
  readonly credited: Set<string>
  /** Receipts that cannot be disputed again. */
  readonly refusedDisputes: Set<string>
  readonly payouts: Set<PayoutId>
  readonly withdrawals: Set<WithdrawalId>
  /** Since the last look. */
  readonly freshPayouts: Array<Payout>
  /** The newest tree that a client has seen. */
  head: { readonly size: number; readonly root: Hash } | undefined
  /** Some invoice has perhaps been corrected. */
  corrected: boolean
  words: number
}

export const noFacts = (): Facts => ({
  consumers: [],
  providers: [],
  tools: [],
  rotated: [],
  granted: [],
  budgets: [],
  reserved: [],
  sent: [],
  asked: new Map(),
  rings: new Map(),
  joinedAtMs: new Map(),
  keyed: [],
  acknowledged: [],
  pending: new Map(),
  receipts: new Map(),
  outcomes: new Map(),
  fees: new Map(),
  freezes: [],
  heldFees: new Map(),
  unplaced: new Set(),
  due: new Set(),
  disputes: new Set(),
  credited: new Set(),
  refusedDisputes: new Set(),
  payouts: new Set(),
  withdrawals: new Set(),
  freshPayouts: [],
  head: undefined,
  corrected: false,
  words: 0
})

/** Learns what was begun from the ports: also what its process did not live to tell. */
export const listening =
  (facts: Facts, nowMs: () => number): Listener =>
  (port, method, args, answer) => {
    if (port === "CallStore" && method === "open") {
      const opened = answer as { readonly _tag: string; readonly held: bigint; readonly free: boolean }
      const call = args[0] as OpenCall
      if (opened._tag !== "Opened") return
      facts.pending.set(call.invocationId, { call, held: opened.held, free: opened.free, openedAtMs: nowMs() })
      countHeld(facts, call, opened.held)
    }
    if (port === "BudgetStore" && method === "create" && answer === true) {
      facts.budgets.push({ budget: args[0] as Budget, sinceMs: nowMs(), latestMs: 0, calls: [] })
    }
    if (port === "GrantStore" && method === "reserve") facts.reserved.push(args[0] as Reserved)
    if (port === "LedgerStore" && method === "post") {
      for (const { consumerId, debit, kind } of (args[0] as Posting).legs) {
        if (consumerId !== undefined && debit === "platform_fee" && kind !== "refund") facts.credited.add(consumerId)
      }
    }
    if (port === "DisputeStore" && method === "insert") facts.disputes.add((args[0] as { readonly id: DisputeId }).id)
    if (port === "WithdrawalStore" && method === "insert") facts.withdrawals.add((args[0] as Withdrawal).id)
    if (port === "PayoutStore" && method === "insert") {
      facts.payouts.add((args[0] as Payout).id)
      if (answer === true) facts.freshPayouts.push(args[0] as Payout)
    }
  }
