/**
 * Lists of all accounts in memory.
 */
import { Effect, Layer } from "effect"
import { AccountSearch } from "../../../domain/operator/AccountSearch.ts"
import { COUNTED_MAX, type Page, type PageRequest } from "../../../domain/shared/Page.ts"
import { pageById } from "../shared/MemoryRows.ts"
import { MemoryTables } from "../shared/MemoryTables.ts"

interface Named {
  readonly id: string
  readonly name: string
  readonly email: string
  readonly handle?: string
}

export const layer = Layer.effect(
  AccountSearch,
  Effect.map(MemoryTables, ({ consumers, providers }) => {
    const listed = <Row extends Named>(
      rows: Iterable<Row>,
      search: string | undefined,
      page: PageRequest
    ): Page<Row> => {
      const start = search?.toLowerCase() ?? ""
      const found = [...rows].filter(
        (one) =>
          one.id === start ||
          [one.name, one.email, one.handle].some((text) => text?.toLowerCase().startsWith(start) === true)
      )
      const listedPage = pageById(found, page)
      return { ...listedPage, total: Math.min(listedPage.total, COUNTED_MAX) }
    }
    const those =
      <Id extends string, Row>(rows: ReadonlyMap<Id, Row>) =>
      (ids: ReadonlyArray<Id>) =>
        Effect.sync(() => ids.flatMap((id) => rows.get(id) ?? []))

    return AccountSearch.of({
      consumers: (search, page) => Effect.sync(() => listed(consumers.values(), search, page)),
      providers: (search, page) => Effect.sync(() => listed(providers.values(), search, page)),
      consumersOf: those(consumers),
      providersOf: those(providers)
    })
  })
)
