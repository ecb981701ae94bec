/**
 * Ledger movements outside of calls (loads, credits, corrections), trial balance and audit. The settlement of a call
 * writes its own transfers to the same accounts (CallStore); domain/earnings/Refunds refunds calls.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import { Entropy } from "../shared/Cryptography.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { Microcents } from "../shared/Microcents.ts"
import { StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { DRY_RUN, WrongBook } from "./Book.ts"
import {
  type AccountTotals,
  type Audit,
  type ConsumerFunds,
  DuplicateReference,
  type InsufficientBalance,
  LedgerStore,
  type Posted
} from "./LedgerStore.ts"
import { type PaymentFailed, PaymentGateway } from "./PaymentGateway.ts"
import {
  type AccountKind,
  availableIn,
  type Balance,
  balanceOf,
  faultOf,
  type Leg,
  type Lot,
  lotDayOf,
  MARKET_OWNER,
  mayBeOverdrawn,
  type Transfer,
  TransferId,
  type TransferKind,
  type Wallet
} from "./Transfer.ts"

// The legs of the ledger's own movements, as pure functions of what the consumer has and owes. Incoming money pays a
// debt first.

/** An amount that enters or leaves one wallet. */
interface WalletAmount {
  readonly consumerId: ConsumerId
  readonly amount: Microcents
}

/** A refund at the processor, or a chargeback. */
export interface ReversedLoad extends WalletAmount {
  readonly cause: "refund" | "dispute"
}

/** Incoming money of a consumer: its source, and the owner of that account. */
export type Source = Omit<Leg, "credit">

export const legsOf = (...legs: ReadonlyArray<Leg>): ReadonlyArray<Leg> => legs.filter((leg) => leg.amount > 0n)

/** Credits the consumer's wallet; a debt is paid first, from the first sources. */
export const intoWallet = (
  sources: ReadonlyArray<Source>,
  { owedMicrocents }: Pick<ConsumerFunds, "owedMicrocents">
): ReadonlyArray<Leg> => {
  let owed = owedMicrocents
  return sources.flatMap((source) => {
    const paid = owed < source.amount ? owed : source.amount
    owed -= paid
    return legsOf(
      { ...source, credit: "consumer_debt", amount: Microcents.make(paid) },
      { ...source, credit: "wallet", amount: Microcents.make(source.amount - paid) }
    )
  })
}

/** Books through the clearing account, which returns to zero when both movements have happened. */
const loadLegs = (load: WalletAmount, funds: ConsumerFunds): ReadonlyArray<Leg> => [
  { ...amountOf(load), kind: "load", debit: "processor", credit: "load_clearing" },
  ...intoWallet([{ ...amountOf(load), kind: "load", debit: "load_clearing" }], funds)
]

/** Takes the available part from the wallet; the rest becomes the consumer's debt, a recorded loss until it is paid. */
const reversalLegs = (back: ReversedLoad, { availableMicrocents }: ConsumerFunds): ReadonlyArray<Leg> => {
  const { account, kind } = CLEARING[back.cause]
  const available = availableMicrocents < back.amount ? availableMicrocents : back.amount
  const parties = { kind, consumerId: back.consumerId, credit: account }
  return [
    ...legsOf(
      { ...parties, debit: "wallet", amount: Microcents.make(available) },
      { ...parties, debit: "consumer_debt", amount: Microcents.make(back.amount - available) }
    ),
    { ...amountOf(back), kind, debit: account, credit: "processor" }
  ]
}

const reinstatementLegs = (back: ReversedLoad, funds: ConsumerFunds): ReadonlyArray<Leg> => {
  const { account, kind } = CLEARING[back.cause]
  return [
    { ...amountOf(back), kind, debit: "processor", credit: account },
    ...intoWallet([{ ...amountOf(back), kind, debit: account }], funds)
  ]
}

/** Credit from platform funds. */
const creditLegs = (credit: WalletAmount, funds: ConsumerFunds): ReadonlyArray<Leg> =>
  intoWallet([{ ...amountOf(credit), kind: "credit", debit: "platform_fee" }], funds)

/** The total amount of a movement: that of its one leg to or from the given account. */
const throughAccount = (account: AccountKind, transfers: ReadonlyArray<Transfer>): bigint =>
  transfers.reduce(
    (sum, { amount, credit, debit }) => (debit === account || credit === account ? sum + amount : sum),
    0n
  )

const amountOf = ({ consumerId, amount }: WalletAmount) => ({ consumerId, amount })

const CLEARING = {
  refund: { kind: "load", account: "refund_clearing" },
  dispute: { kind: "dispute", account: "dispute_clearing" }
} as const satisfies Readonly<
  Record<ReversedLoad["cause"], { readonly kind: TransferKind; readonly account: AccountKind }>
>

/**
 * Says whether all money that can be spent or withdrawn was received. Double entry keeps debits equal to credits;
 * solvency checks that balances are backed by received money.
 */
export interface Solvency {
  /**
   * Balances that can be spent or withdrawn: wallets, providers' money in every state, platform funds, clearing
   * accounts.
   */
  readonly spendableMicrocents: bigint
  readonly receivedMicrocents: bigint
  readonly sentMicrocents: bigint
  /**
   * Losses by processor events only: chargebacks and refunds that could not be recovered, processor fees beyond
   * platform funds.
   */
  readonly recordedLossesMicrocents: bigint
  /** The part of the recorded losses that the operator has not covered. */
  readonly shortfallMicrocents: bigint
  /** Spendable money that was never received. Above 0 it is a fault of the service. */
  readonly unbackedMicrocents: bigint
  /** Fees that were not withdrawn, and deposits. */
  readonly platformFundsMicrocents: bigint
}

export const solvencyOf = (totals: ReadonlyArray<AccountTotals>): Solvency => {
  const of = (account: AccountKind) =>
    totals.find((one) => one.account === account) ?? { credits: 0n, debits: 0n, overdrawn: 0n }
  // An account below zero must not offset another one: each account counts with at least zero.
  const spendable = totals
    .filter(({ account }) => !mayBeOverdrawn(account))
    .reduce((sum, { credits, debits, overdrawn }) => sum + credits - debits + overdrawn, 0n)
  const { credits: sent, debits: received } = of("processor")
  const lost = of("loss")
  const recorded = atLeastZero(of("consumer_debt").overdrawn + lost.debits - lost.credits)
  const platform = of("platform_fee")
  return {
    spendableMicrocents: spendable,
    receivedMicrocents: received,
    sentMicrocents: sent,
    recordedLossesMicrocents: recorded,
    shortfallMicrocents: recorded,
    unbackedMicrocents: atLeastZero(spendable - (received - sent) - recorded),
    platformFundsMicrocents: platform.credits - platform.debits
  }
}

const atLeastZero = (amount: bigint): bigint => (amount > 0n ? amount : 0n)

/** The mode of this node. Without a gateway no money enters or leaves. */
const ownBook = Effect.map(Effect.serviceOption(PaymentGateway), (found) => {
  const gateway = Option.getOrUndefined(found)
  return {
    mode: gateway === undefined ? DRY_RUN.mode : gateway.bookMode,
    book: gateway === undefined ? Effect.succeed(DRY_RUN) : Effect.mapError(gateway.book, unconfirmed)
  }
})

export const unconfirmed = (cause: WrongBook | PaymentFailed): StoreUnavailable =>
  new StoreUnavailable({ reason: "book_unconfirmed", cause })

/**
 * Keeps a node from spending money of another mode. Postings carry their book; calls do not, so a node checks the ledger's
 * book once, after the first hold that reserves money. A book never changes, so one check is enough.
 */
export class BookGuard extends Context.Service<
  BookGuard,
  {
    isConfirmed(): boolean
    /** Fails while the modes differ, or this node's mode is not known yet. */
    readonly confirm: Effect.Effect<void, StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/BookGuard") {
  static readonly layer = Layer.effect(
    BookGuard,
    Effect.gen(function* () {
      const store = yield* LedgerStore
      const own = yield* ownBook
      let confirmed = false

      // The mode is known to a node without asking the processor, so no call waits for it.
      const ownMode = own.mode === undefined ? Effect.map(own.book, ({ mode }) => mode) : Effect.succeed(own.mode)

      const confirm = Effect.gen(function* () {
        const found = Option.getOrUndefined(yield* store.book)
        if (found === undefined) return
        const mode = yield* ownMode
        if (mode !== found.mode)
          return yield* unconfirmed(new WrongBook({ found, own: { mode, accountId: undefined } }))
        confirmed = true
      })

      return BookGuard.of({ isConfirmed: () => confirmed, confirm })
    })
  )
}

/** Names the cause: the same reference with the same content is the same movement and is posted once. */
export interface Caused {
  readonly reference: string
  /** The time when it happened. Default: now. */
  readonly effectiveAt?: DateTime.Utc | undefined
}

/** An amount for a wallet, with the reference that makes it idempotent. */
export type WalletMovement = Caused & WalletAmount

/** The processor took a payment back: a load leaves the wallet, and what is missing becomes a debt. */
export type Reversal = Caused & ReversedLoad

/** An amount that the operator moves between an account and platform funds. */
export interface Adjustment extends Caused {
  readonly owner: { readonly consumerId: ConsumerId } | { readonly providerId: ProviderId }
  readonly direction: "credit" | "debit"
  readonly amount: Microcents
}

/** A consumer's money: what was credited and spent, what open calls hold, and what is left. */
export interface WalletStatus extends Wallet {
  readonly available: bigint
}

/** A provider's earnings that were not paid out, with the credits and debits that led to them. */
export interface ProviderBalance extends Balance {
  /** The total of every state: maturing, available, reserved and frozen. */
  readonly balance: bigint
  /** The part that open disputes freeze. */
  readonly frozen: bigint
}

/** The totals of the whole ledger. `balanced` is false only if its rows were changed outside of it. */
export interface TrialBalance {
  readonly accounts: ReadonlyArray<AccountTotals>
  readonly credits: bigint
  readonly debits: bigint
  readonly balanced: boolean
  readonly solvency: Solvency
}

/** A fault of the code that posts, not of a user. */
export class UnpostableTransfers extends Schema.TaggedError<UnpostableTransfers>()("UnpostableTransfers", {
  reference: Schema.String,
  fault: Schema.String
}) {
  override get message(): string {
    return `${this.fault} (${this.reference}). Nothing was posted.`
  }
}

type Posting = Caused & {
  readonly legs: ReadonlyArray<Leg>
  /** The part of a refund that was spent from credit, and is credit again. */
  readonly restoredCredit?: bigint | undefined
}

export class Ledger extends Context.Service<
  Ledger,
  {
    /** Money that the processor received. A debt is paid first. */
    load(load: WalletMovement): Effect.Effect<Posted, DuplicateReference | StoreUnavailable>
    /**
     * Money of a load that was returned to the payer: taken from the wallet as far as available; the rest becomes a
     * debt.
     */
    reverse(reversal: Reversal): Effect.Effect<Posted, DuplicateReference | StoreUnavailable>
    /** Money that was returned to the payer and came back. */
    reinstate(reversal: Reversal): Effect.Effect<Posted, DuplicateReference | StoreUnavailable>
    /** Credit from platform funds. A debt is paid first. */
    credit(credit: WalletMovement): Effect.Effect<Posted, DuplicateReference | InsufficientBalance | StoreUnavailable>
    /** Credit that returns to platform funds. */
    expireCredit(
      credit: WalletMovement
    ): Effect.Effect<Posted, DuplicateReference | InsufficientBalance | StoreUnavailable>
    adjust(adjustment: Adjustment): Effect.Effect<Posted, DuplicateReference | InsufficientBalance | StoreUnavailable>
    /** Posts linked transfers: all of them or none. */
    post(posting: Posting): Effect.Effect<Posted, DuplicateReference | InsufficientBalance | StoreUnavailable>
    wallet(consumerId: ConsumerId): Effect.Effect<WalletStatus, StoreUnavailable>
    funds(consumerId: ConsumerId): Effect.Effect<ConsumerFunds, StoreUnavailable>
    /** Locks them until the end of the unit of work. */
    lockedFunds(consumerId: ConsumerId): Effect.Effect<ConsumerFunds, StoreUnavailable>
    provider(providerId: ProviderId): Effect.Effect<ProviderBalance, StoreUnavailable>
    lots(providerId: ProviderId): Effect.Effect<ReadonlyArray<Lot>, StoreUnavailable>
    /** Fees that were not withdrawn, and deposits. */
    readonly platformFunds: Effect.Effect<bigint, StoreUnavailable>
    byReference(reference: string): Effect.Effect<ReadonlyArray<Transfer>, StoreUnavailable>
    readonly trialBalance: Effect.Effect<TrialBalance, StoreUnavailable>
    readonly audit: Effect.Effect<Audit, StoreUnavailable>
  }
>()("agent-tool-billing/domain/ledger/Ledger") {
  static readonly layer = Layer.effect(
    Ledger,
    Effect.gen(function* () {
      const store = yield* LedgerStore
      const entropy = yield* Entropy
      const { atomically } = yield* UnitOfWork
      const { book } = yield* ownBook

      const post = Effect.fn("Ledger.post")(function* (posting: Posting) {
        const { legs, reference, restoredCredit } = posting
        const fault = faultOf(posting)
        if (fault !== undefined) return yield* Effect.die(new UnpostableTransfers({ reference, fault }))
        const recordedAt = yield* DateTime.now
        const effectiveAt = posting.effectiveAt ?? recordedAt
        const transferId = TransferId.make(yield* entropy.uuid)
        return yield* store
          .post({ book: yield* book, transferId, reference, legs, restoredCredit, effectiveAt, recordedAt })
          .pipe(Effect.catchTag("WrongBook", (wrong) => Effect.fail(unconfirmed(wrong))))
      })

      /** Posts legs that depend on what the consumer has and owes. The same reference is not divided again. */
      const postDivided = Effect.fnUntraced(function* (
        movement: WalletMovement,
        through: "processor" | "platform_fee",
        divide: (funds: ConsumerFunds) => ReadonlyArray<Leg>
      ) {
        const funds = yield* store.lockedFunds(movement.consumerId)
        const known = yield* store.byReference(movement.reference)
        const [first] = known
        if (first === undefined) return yield* post({ ...movement, legs: divide(funds) })
        const kind = divide(funds)[0]?.kind
        const isSame =
          throughAccount(through, known) === movement.amount &&
          first.consumerId === movement.consumerId &&
          first.kind === kind
        if (!isSame) return yield* new DuplicateReference({ reference: movement.reference })
        return { transferId: first.transferId, repeated: true }
      })

      /** A call may have spent from the wallet since it was read: then read it again. */
      const divided = (movement: WalletMovement, divide: (funds: ConsumerFunds) => ReadonlyArray<Leg>) =>
        atomically(postDivided(movement, "processor", divide)).pipe(
          Effect.retry({ while: (error) => error._tag === "InsufficientBalance", times: DIVISIONS_MAX }),
          Effect.catchTag("InsufficientBalance", Effect.die)
        )

      const provider = Effect.fn("Ledger.provider")(function* (providerId: ProviderId) {
        const lots = yield* store.balance("provider", providerId)
        const frozen = balanceOf(yield* store.balance("provider_frozen", providerId))
        return { ...lots, balance: balanceOf(lots) + frozen, frozen }
      })

      const adjust = Effect.fn("Ledger.adjust")(function* (adjustment: Adjustment) {
        const { amount, direction, owner } = adjustment
        if (!("consumerId" in owner)) {
          const leg = providerAdjustment(adjustment, lotDayOf(yield* DateTime.now))
          return yield* post({ ...adjustment, legs: [leg] })
        }
        const { consumerId } = owner
        if (direction === "debit") {
          const leg = { kind: "adjustment", debit: "wallet", credit: "platform_fee", consumerId, amount } as const
          return yield* post({ ...adjustment, legs: [leg] })
        }
        return yield* atomically(
          postDivided({ ...adjustment, consumerId }, "platform_fee", (funds) =>
            intoWallet([{ kind: "adjustment", debit: "platform_fee", consumerId, amount }], funds)
          )
        )
      })

      return Ledger.of({
        post,
        load: (load) => divided(load, (funds) => loadLegs(load, funds)),
        reverse: (reversal) => divided(reversal, (funds) => reversalLegs(reversal, funds)),
        reinstate: (reversal) => divided(reversal, (funds) => reinstatementLegs(reversal, funds)),
        credit: (credit) => atomically(postDivided(credit, "platform_fee", (funds) => creditLegs(credit, funds))),
        expireCredit: ({ amount, consumerId, ...credit }) =>
          post({
            ...credit,
            legs: [{ amount, consumerId, kind: "credit_expiry", debit: "wallet", credit: "platform_fee" }]
          }),
        adjust,
        wallet: (consumerId) =>
          Effect.map(store.wallet(consumerId), (wallet) => ({ ...wallet, available: availableIn(wallet) })),
        funds: store.funds,
        lockedFunds: store.lockedFunds,
        provider,
        lots: store.lots,
        platformFunds: Effect.map(store.balance("platform_fee", MARKET_OWNER), balanceOf),
        byReference: store.byReference,
        trialBalance: Effect.map(store.totals, trialBalanceOf),
        audit: store.audit
      })
    })
  )
}

const DIVISIONS_MAX = 10

const providerAdjustment = ({ amount, direction, owner }: Adjustment, lot: string): Leg => {
  const common = { ...owner, kind: "adjustment", amount, lot } as const
  return direction === "credit"
    ? { ...common, debit: "platform_fee", credit: "provider" }
    : { ...common, debit: "provider", credit: "platform_fee" }
}

const trialBalanceOf = (accounts: ReadonlyArray<AccountTotals>): TrialBalance => {
  const credits = accounts.reduce((sum, account) => sum + account.credits, 0n)
  const debits = accounts.reduce((sum, account) => sum + account.debits, 0n)
  return { accounts, credits, debits, balanced: credits === debits, solvency: solvencyOf(accounts) }
}
