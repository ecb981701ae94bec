/**
 * Erases an account's personal data without changing the ledger: names, addresses and texts are replaced; keys, grants
 * and budgets end; ids, receipts, transfers, the log and documents stay.
 */
import { Context, DateTime, Effect, Layer, Option, Schema } from "effect"
import {
  AccountStore,
  type Consumer,
  erasedConsumer,
  erasedProvider,
  type Erasure as ErasureRecord,
  type Provider
} from "../accounts/Account.ts"
import { HandleStore } from "../accounts/Handle.ts"
import { isActive, KeyStore } from "../accounts/Keys.ts"
import { LevelStore } from "../accounts/Levels.ts"
import { ToolboxStore } from "../accounts/ToolboxStore.ts"
import { type CatalogEntry, CatalogStore, type ToolUpsert } from "../catalog/CatalogStore.ts"
import { ImportStore } from "../catalog/ImportStore.ts"
import type { PriceVersion } from "../catalog/Terms.ts"
import { declarationOf } from "../catalog/Tool.ts"
import { ClaimStore } from "../earnings/Claims.ts"
import { PayeeStore, PayoutStore } from "../earnings/PayoutStore.ts"
import { BudgetStore } from "../ledger/Budgets.ts"
import { LedgerStore } from "../ledger/LedgerStore.ts"
import { balanceOf } from "../ledger/Transfer.ts"
import { McpSessionStore } from "../mcp/McpStores.ts"
import { ToolAliasStore } from "../mcp/ToolAliases.ts"
import { GrantStore, isActive as isActiveGrant } from "../metering/Grants.ts"
import { NamePinStore } from "../metering/ToolDirectory.ts"
import { LoadStore } from "../payments/Loads.ts"
import { WithdrawalStore } from "../payments/Withdrawals.ts"
import { SubmissionStore, WaitlistStore } from "../platform/Submissions.ts"
import { ChangeFeed } from "../shared/ChangeFeed.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import { formatAmount } from "../shared/Microcents.ts"
import type { PageRequest } from "../shared/Page.ts"
import { type StoreUnavailable, UnitOfWork } from "../shared/StoreUnavailable.ts"
import { TaskStore } from "../tasks/CallTask.ts"
import { VerificationStore } from "../trust/Challenge.ts"
import { DisputeStore } from "../trust/DisputeStore.ts"

// Reasons why an account cannot be erased yet.

/** Neither a consumer nor a provider has this id. Nothing was changed. */
export class AccountNotFound extends Schema.TaggedError<AccountNotFound>()("AccountNotFound", {
  ownerId: Schema.String
}) {
  override get message() {
    return `Account ${this.ownerId} does not exist. Nothing was changed.`
  }
}

/** Operations in progress that an erasure would disturb. */
export class MoneyInTransit extends Schema.TaggedError<MoneyInTransit>()("MoneyInTransit", {
  ownerId: Schema.String,
  what: Schema.Array(Schema.String)
}) {
  override get message() {
    return `Account ${this.ownerId} has ${this.what.join(", ")}. Nothing was changed. Retry when these have ended.`
  }
}

/** The account has a balance or a debt, so it was not erased. `leaveMoney` accepts that. */
export class MoneyRemaining extends Schema.TaggedError<MoneyRemaining>()("MoneyRemaining", {
  ownerId: Schema.String,
  leftMicrocents: Schema.BigInt
}) {
  override get message() {
    const amount = formatAmount(this.leftMicrocents < 0n ? -this.leftMicrocents : this.leftMicrocents)
    const standing =
      this.leftMicrocents > 0n
        ? `still has ${amount}. Refund it or pay it out first`
        : `still owes ${amount}. Collect it first`
    return (
      `Account ${this.ownerId} ${standing}, or erase the account and leave the amount in the ledger, under an account ` +
      "without a name. Nothing was changed."
    )
  }
}

export const ERASED_BY_CHARS_MAX = 200

/** The operator's order to erase an account. It cannot be undone. */
export interface ErasureOrder {
  readonly ownerId: string
  /** The requester, in the operator's words. */
  readonly by: string
  /** Accept a balance or a debt, which then stays in the ledger. */
  readonly leaveMoney: boolean
}

/** The record that an account was erased, which contains nothing personal. */
export interface Erased {
  /** The first record, if this is a repetition. */
  readonly record: ErasureRecord
  readonly repeated: boolean
}

type Account =
  | { readonly role: "consumer"; readonly ownerId: ConsumerId; readonly row: Consumer }
  | { readonly role: "provider"; readonly ownerId: ProviderId; readonly row: Provider }

const TOOLS_AT_ONCE = 100
const ONE: PageRequest = { limit: 1, offset: 0, after: undefined }

export class Erasure extends Context.Service<
  Erasure,
  {
    /** All or nothing. A repetition erases what a restored backup brought back; the first record stays. */
    erase(
      order: ErasureOrder
    ): Effect.Effect<Erased, AccountNotFound | MoneyInTransit | MoneyRemaining | StoreUnavailable>
  }
>()("agent-tool-billing/domain/erasure/Erasure") {
  static readonly layer = Layer.effect(
    Erasure,
    Effect.gen(function* () {
      const accounts = yield* AccountStore
      const handles = yield* HandleStore
      const pins = yield* NamePinStore
      const toolboxes = yield* ToolboxStore
      const aliases = yield* ToolAliasStore
      const mcpSessions = yield* McpSessionStore
      const keys = yield* KeyStore
      const catalog = yield* CatalogStore
      const imports = yield* ImportStore
      const ledger = yield* LedgerStore
      const claims = yield* ClaimStore
      const budgets = yield* BudgetStore
      const levels = yield* LevelStore
      const grants = yield* GrantStore
      const loads = yield* LoadStore
      const withdrawals = yield* WithdrawalStore
      const payees = yield* PayeeStore
      const payouts = yield* PayoutStore
      const submissions = yield* SubmissionStore
      const waitlist = yield* WaitlistStore
      const disputes = yield* DisputeStore
      const proofs = yield* VerificationStore
      /** Only a service with doors for MCP has tasks. */
      const tasks = yield* Effect.serviceOption(TaskStore)
      const feed = yield* ChangeFeed
      const { atomically } = yield* UnitOfWork

      const find = Effect.fnUntraced(function* (id: string) {
        const consumer = Option.getOrUndefined(yield* accounts.findConsumer(id as ConsumerId))
        if (consumer !== undefined) return { role: "consumer", ownerId: consumer.id, row: consumer } satisfies Account
        const provider = Option.getOrUndefined(yield* accounts.findProvider(id as ProviderId))
        if (provider !== undefined) return { role: "provider", ownerId: provider.id, row: provider } satisfies Account
        return yield* new AccountNotFound({ ownerId: id })
      })

      const openDisputes = Effect.fnUntraced(function* (account: Account) {
        const filed = yield* disputes.list(account, "filed", ONE)
        const reviewed = yield* disputes.list(account, "under_review", ONE)
        return filed.total + reviewed.total
      })

      /** The remaining amount, refunds that are owed included. Locks a consumer's wallet. */
      const leftOf = Effect.fnUntraced(function* (account: Account) {
        if (account.role === "provider") {
          const owed = yield* claims.owedBy(account.ownerId)
          const balances = [
            ledger.balance("provider", account.ownerId),
            ledger.balance("provider_frozen", account.ownerId)
          ]
          return (yield* Effect.all(balances)).reduce((sum, balance) => sum + balanceOf(balance), 0n) - owed
        }
        const { availableMicrocents, owedMicrocents } = yield* ledger.lockedFunds(account.ownerId)
        return availableMicrocents - owedMicrocents + (yield* claims.owedTo(account.ownerId))
      })

      const inTransit = Effect.fnUntraced(function* (account: Account) {
        const counts: Array<readonly [what: string, count: number]> = [["open disputes", yield* openDisputes(account)]]
        if (account.role === "provider") {
          counts.push(["a payout in progress", Option.isSome(yield* payouts.openOf(account.ownerId)) ? 1 : 0])
        } else {
          counts.push(["open calls", (yield* ledger.wallet(account.ownerId)).held > 0n ? 1 : 0])
          counts.push(["loads that may still be paid", yield* loads.unsettledOf(account.ownerId)])
          // The processor may be unable to deliver it: then the money returns to the account.
          counts.push(["a withdrawal in progress", (yield* withdrawals.hasOpen(account.ownerId)) ? 1 : 0])
        }
        return counts.filter(([, count]) => count > 0).map(([what]) => what)
      })

      const endKeys = Effect.fnUntraced(function* ({ ownerId }: Account, now: DateTime.Utc) {
        for (const key of yield* keys.ofOwner(ownerId, now)) {
          if (!isActive(key, now.epochMilliseconds)) continue
          yield* keys.revoke(ownerId, key.id, now)
          yield* feed.publish({ topic: "key", id: key.hash })
        }
        yield* keys.unlabel(ownerId)
      })

      const eraseConsumer = Effect.fnUntraced(function* (consumer: Consumer, now: DateTime.Utc) {
        for (const grant of yield* grants.ofConsumer(consumer.id, now)) {
          if (isActiveGrant(grant, now)) yield* grants.revoke(consumer.id, grant.id, now)
        }
        for (const budget of yield* budgets.list(consumer.id, now)) yield* budgets.remove(consumer.id, budget.id)
        yield* levels.erase(consumer.id, now)
        yield* pins.removeAll(consumer.id)
        yield* toolboxes.removeAll(consumer.id)
        yield* mcpSessions.removeAll(consumer.id)
        if (Option.isSome(tasks)) yield* tasks.value.removeAll(consumer.id)
        yield* accounts.updateConsumer(erasedConsumer(consumer))
      })

      /** Withdraws the tools. Names, prices and categories stay, because receipts refer to them. */
      const eraseTools = Effect.fnUntraced(function* (providerId: ProviderId, now: DateTime.Utc) {
        const filter = { category: undefined, providerId, maxPrice: undefined, tokens: [], state: "any" as const }
        let after: PageRequest["after"]
        do {
          const page = yield* catalog.search(filter, "name", { limit: TOOLS_AT_ONCE, offset: 0, after })
          yield* catalog.upsert(page.items.filter(({ tool }) => !tool.draft).map((entry) => silenced(entry, now)))
          for (const { tool } of page.items) {
            if (tool.draft) yield* catalog.removeDraft(providerId, tool.id)
            else yield* catalog.withdraw(providerId, tool.id, tool.withdrawnAt ?? now)
          }
          after = page.next
        } while (after !== undefined)
      })

      const eraseProvider = Effect.fnUntraced(function* (provider: Provider, now: DateTime.Utc) {
        yield* eraseTools(provider.id, now)
        yield* catalog.removeVersions(provider.id)
        yield* imports.remove(provider.id)
        yield* proofs.remove(provider.id)
        const payee = Option.getOrUndefined(yield* payees.find(provider.id))
        if (payee?.automatic === true) yield* payees.putAutomatic(provider.id, false, now)
        yield* handles.erase(provider.id)
        yield* aliases.erase(provider.id)
        yield* accounts.updateProvider(erasedProvider(provider))
      })

      const erase = Effect.fn("Erasure.erase")(function* ({ by, leaveMoney, ownerId: id }: ErasureOrder) {
        const account = yield* find(id)
        const { ownerId, role, row } = account
        const known = Option.getOrUndefined(yield* accounts.erasureOf(ownerId))
        const leftMicrocents = yield* leftOf(account)
        if (known === undefined) {
          const what = yield* inTransit(account)
          if (what.length > 0) return yield* new MoneyInTransit({ ownerId, what })
          if (leftMicrocents !== 0n && !leaveMoney) return yield* new MoneyRemaining({ ownerId, leftMicrocents })
        }
        const now = yield* DateTime.now
        yield* endKeys(account, now)
        yield* disputes.eraseStatements(account)
        // Submissions without an account are found by their address only.
        yield* waitlist.erase(row.email.trim().toLowerCase())
        yield* submissions.eraseOf(row.email.trim())
        yield* role === "consumer" ? eraseConsumer(row, now) : eraseProvider(row, now)
        yield* feed.publish({ topic: "everything", id: "" })
        const record = known ?? { ownerId, role, by, at: now, leftMicrocents }
        yield* accounts.recordErasure(record)
        return { record, repeated: known !== undefined } satisfies Erased
      }, atomically)

      return Erasure.of({ erase })
    })
  )
}

/** The tool without what its provider said of it. */
const silenced = ({ prices: { inEffect, upcoming, ...prices }, tool }: CatalogEntry, at: DateTime.Utc): ToolUpsert => ({
  id: tool.id,
  providerId: tool.providerId,
  declaration: {
    ...declarationOf(tool),
    displayName: tool.toolName,
    description: "",
    inputSchema: undefined,
    outputSchema: undefined,
    annotations: undefined
  },
  prices: { ...prices, inEffect: withoutSchema(inEffect), upcoming: upcoming && withoutSchema(upcoming) },
  searchTokens: [],
  at
})

const withoutSchema = ({ outputSchema: _, ...version }: PriceVersion): PriceVersion => version
