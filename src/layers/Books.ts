/**
 * The stores of one market. They read and lock each other's rows, so they are replaced together: `core` does not start
 * on stores of two groups.
 */
import { Context, Effect, Layer, Schema } from "effect"
import { AccountStore } from "../../domain/accounts/Account.ts"
import { HandleStore } from "../../domain/accounts/Handle.ts"
import { KeyStore } from "../../domain/accounts/Keys.ts"
import { LevelStore } from "../../domain/accounts/Levels.ts"
import { ToolboxStore } from "../../domain/accounts/ToolboxStore.ts"
import { CatalogStore, MarketFigures } from "../../domain/catalog/CatalogStore.ts"
import { ImportStore } from "../../domain/catalog/ImportStore.ts"
import { ClaimStore } from "../../domain/earnings/Claims.ts"
import { PayeeStore, PayoutStore } from "../../domain/earnings/PayoutStore.ts"
import { InvoiceStore } from "../../domain/invoices/Invoice.ts"
import { BudgetStore } from "../../domain/ledger/Budgets.ts"
import { LedgerStore } from "../../domain/ledger/LedgerStore.ts"
import { PaidFunds } from "../../domain/ledger/PaidFunds.ts"
import { LogStore } from "../../domain/log/LogStore.ts"
import { McpSessionStore } from "../../domain/mcp/McpStores.ts"
import { ToolAliasStore } from "../../domain/mcp/ToolAliases.ts"
import { CallStore } from "../../domain/metering/CallStore.ts"
import { GrantStore } from "../../domain/metering/Grants.ts"
import { NamePinStore } from "../../domain/metering/ToolDirectory.ts"
import { UsageStore } from "../../domain/metering/Usage.ts"
import { AccountSearch } from "../../domain/operator/AccountSearch.ts"
import { AuditTrailStore } from "../../domain/operator/AuditTrail.ts"
import { ChargebackStore, FreezeStore } from "../../domain/payments/AccountFreezes.ts"
import { LoadStore } from "../../domain/payments/Loads.ts"
import { WithdrawalStore } from "../../domain/payments/Withdrawals.ts"
import { PlatformFigures } from "../../domain/platform/PlatformStats.ts"
import { SpendingByLot } from "../../domain/processor/Chargebacks.ts"
import { ReceiptStore } from "../../domain/receipts/Receipts.ts"
import { ChangeFeed } from "../../domain/shared/ChangeFeed.ts"
import { IdempotencyStore } from "../../domain/shared/Idempotency.ts"
import { UnitOfWork } from "../../domain/shared/StoreUnavailable.ts"
import { VerificationStore } from "../../domain/trust/Challenge.ts"
import { DisputeStore } from "../../domain/trust/DisputeStore.ts"
import { SlaStore } from "../../domain/trust/SlaStore.ts"
import { ProviderEvidence } from "../../domain/trust/Trust.ts"

export const booksPorts = [
  AccountSearch,
  AccountStore,
  AuditTrailStore,
  BudgetStore,
  CallStore,
  CatalogStore,
  ChangeFeed,
  ChargebackStore,
  ClaimStore,
  DisputeStore,
  FreezeStore,
  GrantStore,
  HandleStore,
  IdempotencyStore,
  ImportStore,
  InvoiceStore,
  KeyStore,
  LevelStore,
  LedgerStore,
  LoadStore,
  LogStore,
  MarketFigures,
  McpSessionStore,
  NamePinStore,
  PayeeStore,
  PayoutStore,
  PlatformFigures,
  ProviderEvidence,
  ReceiptStore,
  SlaStore,
  PaidFunds,
  SpendingByLot,
  ToolAliasStore,
  ToolboxStore,
  UnitOfWork,
  UsageStore,
  VerificationStore,
  WithdrawalStore
] as const

/** Every port of the group. */
export type BooksPort = Context.Service.Identifier<(typeof booksPorts)[number]>

export const nameOf = ({ key }: { readonly key: string }): string => key.slice(key.lastIndexOf("/") + 1)

/** `core` was given stores of two groups, which do not see each other's data. It did not start. */
export class BooksMixed extends Schema.TaggedError<BooksMixed>()("BooksMixed", {
  replaced: Schema.Array(Schema.String)
}) {
  override get message() {
    const [names, do_] = [this.replaced.join(", "), this.replaced.length === 1 ? "does" : "do"]
    return (
      `${names} ${do_} not belong to the Books that were provided: the other stores would not see the data. ` +
      "Provide a whole group with Books.layer, or wrap a store of the group with Books.wrap."
    )
  }
}

export class Books extends Context.Service<
  Books,
  {
    /** The ports of the group, as they were made together. */
    readonly stores: Context.Context<BooksPort>
    /** Stores of the group that behave differently on the same data. */
    readonly wrapped: WeakSet<object>
  }
>()("agent-tool-billing/src/Books") {
  /** Makes a group of stores that share their data. A store that is missing does not compile. */
  static readonly layer = <Others, E, R>(
    stores: Layer.Layer<BooksPort | Others, E, R>
  ): Layer.Layer<Books | BooksPort | Others, E, R> =>
    Layer.effect(
      Books,
      Effect.map(Effect.context<BooksPort>(), (made) => ({ stores: made, wrapped: new WeakSet() }))
    ).pipe(Layer.provideMerge(stores))

  /** A store of the group that behaves differently on the same data, such as one that fails on purpose. */
  static readonly wrap = <Port extends BooksPort, Store extends object>(
    port: Context.Key<Port, Store>,
    change: (store: Store) => Store
  ): Layer.Layer<Books | Port, never, Books | Port> =>
    Layer.effectContext(
      Effect.gen(function* () {
        const books = yield* Books
        const store = yield* port
        const changed = change(store)
        if (belongsTo(books, port, store)) books.wrapped.add(changed)
        return Context.make(port, changed).pipe(Context.add(Books, books))
      })
    )
}

const belongsTo = ({ stores, wrapped }: Books["Service"], { key }: { readonly key: string }, store: unknown): boolean =>
  stores.mapUnsafe.get(key) === store || wrapped.has(store as object)

/** Fails if a store was replaced without the others. */
export const wholeBooks = Layer.effectDiscard(
  Effect.gen(function* () {
    const books = yield* Books
    const given = yield* Effect.context<BooksPort>()
    const replaced = booksPorts.filter((port) => !belongsTo(books, port, given.mapUnsafe.get(port.key))).map(nameOf)
    if (replaced.length > 0) return yield* new BooksMixed({ replaced })
  })
)
