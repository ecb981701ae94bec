/**
 * Names of accounts for the operator's lists, read once a page.
 */
import { Effect } from "effect"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import type { ConsumerId, ProviderId } from "../../../domain/shared/Ids.ts"

type Id = ConsumerId | ProviderId

interface Accounts {
  readonly consumers?: ReadonlyArray<ConsumerId | undefined>
  readonly providers?: ReadonlyArray<ProviderId | undefined>
}

/** Resolves to the name of each account; an unknown one has its ID as its name. */
export const accountNames = Effect.map(AccountSearch, (search) =>
  Effect.fnUntraced(function* ({ consumers = [], providers = [] }: Accounts) {
    const [asked, sold] = [distinct(consumers), distinct(providers)]
    const found = [
      ...(asked.length === 0 ? [] : yield* search.consumersOf(asked)),
      ...(sold.length === 0 ? [] : yield* search.providersOf(sold))
    ]
    const names = new Map<Id, string>(found.map(({ id, name }) => [id, name]))
    return (id: Id): string => names.get(id) ?? id
  })
)

const distinct = <One extends Id>(ids: ReadonlyArray<One | undefined>): ReadonlyArray<One> => [
  ...new Set(ids.filter((id) => id !== undefined))
]
