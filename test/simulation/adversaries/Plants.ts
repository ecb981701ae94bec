/**
 * Faults that allow theft, planted one at a time by ports or settings. Each was in the service once, or is what an attack
 * would need. They are found from what clients and the processor see; the check of all balances is off.
 */
import { Context, Effect, Option } from "effect"
import { AccountStore } from "../../../domain/accounts/Account.ts"
import { KeyStore } from "../../../domain/accounts/Keys.ts"
import { CatalogStore } from "../../../domain/catalog/CatalogStore.ts"
import { ClaimStore } from "../../../domain/earnings/Claims.ts"
import { LedgerStore } from "../../../domain/ledger/LedgerStore.ts"
import { PaidFunds } from "../../../domain/ledger/PaidFunds.ts"
import { TransferId } from "../../../domain/ledger/Transfer.ts"
import { LogStore } from "../../../domain/log/LogStore.ts"
import { CallStore } from "../../../domain/metering/CallStore.ts"
import { ChargebackStore, FreezeStore } from "../../../domain/payments/AccountFreezes.ts"
import { WithdrawalStore } from "../../../domain/payments/Withdrawals.ts"
import { Microcents } from "../../../domain/shared/Microcents.ts"
import { ProviderEvidence, type ScoreEvidence } from "../../../domain/trust/Trust.ts"
import type { Plant } from "../Plants.ts"
import type { Run } from "../Simulation.ts"
import type { Stores } from "../parts/Ports.ts"

export interface Robbery extends Pick<Run, "misread" | "plant"> {
  readonly name: string
  /** The rules that must find it, whichever is violated first. */
  readonly rules: ReadonlyArray<string>
  /** Rules that would find it first. */
  readonly without?: ReadonlyArray<string>
  /** Of a run that finds it early. */
  readonly seed?: number
}

/** What the provider cannot pay is paid all the same, out of nothing. */
const uncoveredRefund: Plant = (stores) => {
  const claims = Context.get(stores, ClaimStore)
  const ledger = Context.get(stores, LedgerStore)
  return Context.add(stores, ClaimStore, {
    ...claims,
    insert: Effect.fnUntraced(function* (claim) {
      const { amount, createdAt, creditor, id, subject } = claim
      yield* claims.insert({ ...claim, paid: claim.amount })
      if (creditor === undefined) return
      const leg = { kind: "refund", debit: "loss", credit: "wallet", amount, consumerId: creditor } as const
      const book = Option.getOrThrow(yield* ledger.book)
      const posting = { book, reference: `uncovered:${subject}:${id}`, legs: [leg], effectiveAt: createdAt }
      yield* Effect.orDie(ledger.post({ ...posting, transferId: TransferId.make(id), recordedAt: createdAt }))
    })
  })
}

/** A change of the platform fee is answered and not stored. */
const fixedFee: Plant = (stores) =>
  Context.add(stores, AccountStore, { ...Context.get(stores, AccountStore), setFee: () => Effect.void })

/** The fee of every provider is 0 in its row, and in no entry of its history. */
const feeWithoutHistory: Plant = (stores) => {
  const catalog = Context.get(stores, CatalogStore)
  return Context.add(stores, CatalogStore, {
    ...catalog,
    find: (id) =>
      Effect.map(
        catalog.find(id),
        Option.map((entry) => ({
          ...entry,
          provider: { ...entry.provider, fee: { own: 0, upcoming: undefined } }
        }))
      )
  })
}

const forgottenClaim: Plant = (stores) =>
  Context.add(stores, ClaimStore, { ...Context.get(stores, ClaimStore), insert: () => Effect.void })

const uncollectedClaim: Plant = (stores) =>
  Context.add(stores, ClaimStore, { ...Context.get(stores, ClaimStore), lockOpen: () => Effect.succeed([]) })

/** A reported call counts as if the proxy had made it. */
const reportsAsCalls: Plant = (stores) => {
  const log = Context.get(stores, LogStore)
  return Context.add(stores, LogStore, {
    ...log,
    take: (limit) => Effect.map(log.take(limit), (batch) => batch.map((one) => ({ ...one, origin: "proxy" as const })))
  })
}

const openDisputesCount: Plant = (stores) =>
  changingScores(stores, (evidence) => ({
    ...evidence,
    scored: { ...evidence.scored, upheld: evidence.scored.upheld + evidence.disputes.open }
  }))

const freeCallersCount: Plant = (stores) =>
  changingScores(stores, (evidence) => ({
    ...evidence,
    counted: { ...evidence.counted, consumers: evidence.counted.consumers + Math.min(1, evidence.calls) }
  }))

/** Every call is canceled when its caller disconnects, and then costs nothing, although no tool has published that. */
const hangUpsCancel: Plant = (stores) => {
  const catalog = Context.get(stores, CatalogStore)
  return Context.add(stores, CatalogStore, {
    ...catalog,
    find: (id) =>
      Effect.map(
        catalog.find(id),
        Option.map((entry) => ({
          ...entry,
          cancellation: "free" as const,
          prices: { ...entry.prices, inEffect: { ...entry.prices.inEffect, cancellation: "free" as const } }
        }))
      )
  })
}

/** A call without a cap accepts any maximum: a tool that lists a price of 0 can charge any amount. */
const capsForAll: Plant = (stores) => {
  const keys = Context.get(stores, KeyStore)
  return Context.add(stores, KeyStore, {
    ...keys,
    findByHash: (hash) =>
      Effect.map(
        keys.findByHash(hash),
        Option.map((found) => ({ ...found, defaultCap: Microcents.make(1_000_000_000_000n) }))
      )
  })
}

const chargebackDoesNotFreeze: Plant = (stores) => {
  const freezes = Context.get(stores, FreezeStore)
  return Context.add(stores, FreezeStore, {
    ...freezes,
    freeze: (id, freeze) => (freeze.byOperator ? freezes.freeze(id, freeze) : Effect.void)
  })
}

/** The review of frozen accounts takes the operator's freeze for one of its own. */
const reviewEndsFreezes: Plant = (stores) => {
  const freezes = Context.get(stores, FreezeStore)
  return Context.add(stores, FreezeStore, {
    ...freezes,
    find: (id) =>
      Effect.map(
        freezes.find(id),
        Option.map((one) => ({ ...one, byOperator: false }))
      )
  })
}

/** A dispute is not checked against a chargeback of the same money. */
const recoveredTwice: Plant = (stores) => {
  const chargebacks = Context.get(stores, ChargebackStore)
  return Context.add(stores, ChargebackStore, {
    ...chargebacks,
    ofConsumer: (id) =>
      Effect.map(chargebacks.ofConsumer(id), (all) => all.map((one) => ({ ...one, funds: "none" as const })))
  })
}

const withdrawnAgain: Plant = (stores) =>
  Context.add(stores, WithdrawalStore, {
    ...Context.get(stores, WithdrawalStore),
    withdrawnCents: () => Effect.succeed(new Map())
  })

/** What caller or service ended is recorded as an error of the provider. */
const endingsCount: Plant = (stores) => {
  const calls = Context.get(stores, CallStore)
  return Context.add(stores, CallStore, {
    ...calls,
    close: (call) => calls.close({ ...call, cause: call.cause === "canceled" ? undefined : call.cause })
  })
}

/** The number of waiting calls is not looked at before a call is forwarded. */
const anyNumberWaits: Plant = (stores) =>
  Context.add(stores, CallStore, { ...Context.get(stores, CallStore), mayWait: () => Effect.succeed(true) })

/** What is available counts as paid. */
const creditAsCash: Plant = (stores) =>
  Context.add(stores, PaidFunds, {
    ...Context.get(stores, PaidFunds),
    paid: () => Effect.succeed(1_000_000_000_000n)
  })

const changingScores = (
  stores: Context.Context<Stores>,
  change: (evidence: ScoreEvidence) => ScoreEvidence
): Context.Context<Stores> => {
  const evidence = Context.get(stores, ProviderEvidence)
  return Context.add(stores, ProviderEvidence, {
    ...evidence,
    ofScore: (providerId, since) => Effect.map(evidence.ofScore(providerId, since), Option.map(change))
  })
}

export const robberies: ReadonlyArray<Robbery> = [
  { name: "a refund that prints money", plant: uncoveredRefund, rules: ["every balance is backed"] },
  { name: "a claim that is forgotten", plant: forgottenClaim, rules: ["claims are kept"] },
  { name: "a claim that is not collected", plant: uncollectedClaim, rules: ["claims come first"] },
  {
    name: "earnings that are paid out at once",
    misread: (terms) => ({ ...terms, payoutDelayDays: 0, newProviderDelayDays: 0 }),
    rules: ["earnings mature"]
  },
  {
    name: "a reserve that is not kept",
    misread: (terms) => ({ ...terms, reservePercent: 0 }),
    rules: ["earnings mature"]
  },
  {
    name: "a price that is raised at once",
    misread: (terms) => ({ ...terms, priceNoticeHours: 0 }),
    rules: ["no one pays more than agreed"],
    without: ["the fee was announced"]
  },
  {
    name: "a fee that is raised at once",
    misread: (terms) => ({ ...terms, priceNoticeHours: 0 }),
    rules: ["the fee was announced"],
    without: ["no one pays more than agreed"]
  },
  {
    name: "a fee that is not changed",
    plant: fixedFee,
    rules: ["the fee was announced"]
  },
  {
    name: "a fee that is changed without its history",
    plant: feeWithoutHistory,
    rules: ["the history explains the fee"],
    without: ["the fee was announced"]
  },
  {
    name: "a maximum that is charged unasked",
    plant: capsForAll,
    rules: ["no one pays more than agreed"]
  },
  {
    name: "a chargeback that freezes nothing",
    plant: chargebackDoesNotFreeze,
    rules: ["a chargeback freezes"]
  },
  {
    name: "a freeze by the operator that ends by itself",
    plant: reviewEndsFreezes,
    rules: ["the operator's freeze holds"]
  },
  {
    name: "a call that is recovered twice",
    plant: recoveredTwice,
    rules: ["no call is recovered twice"]
  },
  {
    name: "a load that is withdrawn again",
    plant: withdrawnAgain,
    rules: ["no consumer withdraws more than it loaded"],
    seed: 39
  },
  {
    name: "credit that is withdrawn as cash",
    plant: creditAsCash,
    rules: ["credit is not withdrawn"]
  },
  {
    name: "loads without a limit",
    misread: (terms) => ({ ...terms, newAccountLoadCentsPerDay: 0 }),
    rules: ["a new account loads little"]
  },
  {
    name: "work for nothing by hanging up",
    plant: hangUpsCancel,
    rules: ["a call that was left is settled by its outcome"]
  },
  {
    name: "calls that never answer and count against their provider",
    plant: endingsCount,
    rules: ["figures are the provider's own"]
  },
  {
    name: "work for nothing beside calls that never answer",
    plant: anyNumberWaits,
    rules: ["no work for nothing"]
  },
  {
    name: "reports that count as calls",
    plant: reportsAsCalls,
    rules: ["figures are the provider's own", "trust is earned"]
  },
  {
    name: "a dispute that counts while it is open",
    plant: openDisputesCount,
    rules: ["trust is lost by decisions alone"]
  },
  { name: "consumers that count and never paid", plant: freeCallersCount, rules: ["trust is earned"] }
]
