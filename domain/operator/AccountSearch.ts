/**
 * Port to the lists of all accounts, which only the operator sees.
 */
import { Context, type Effect } from "effect"
import type { Consumer, Provider } from "../accounts/Account.ts"
import type { ConsumerId, ProviderId } from "../shared/Ids.ts"
import type { Page, PageRequest } from "../shared/Page.ts"
import type { StoreUnavailable } from "../shared/StoreUnavailable.ts"

/**
 * `search`: an id, or the beginning of an email address, a name or a handle, without regard to case. Newest first.
 */
export class AccountSearch extends Context.Service<
  AccountSearch,
  {
    consumers(search: string | undefined, page: PageRequest): Effect.Effect<Page<Consumer>, StoreUnavailable>
    providers(search: string | undefined, page: PageRequest): Effect.Effect<Page<Provider>, StoreUnavailable>
    /** Returns known ones in any order. */
    consumersOf(ids: ReadonlyArray<ConsumerId>): Effect.Effect<ReadonlyArray<Consumer>, StoreUnavailable>
    /** Returns known ones in any order. */
    providersOf(ids: ReadonlyArray<ProviderId>): Effect.Effect<ReadonlyArray<Provider>, StoreUnavailable>
  }
>()("agent-tool-billing/domain/operator/AccountSearch") {}
