/**
 * The first movement of money records the mode of the ledger (dry run, test or live) and the processor account. A
 * posting of any other mode or account is rejected.
 */
import { Effect, type Option, Schema } from "effect"

/** The owner of the money in a ledger: simulated money, a processor's test money, or real money. */
export const BookMode = Schema.Literals(["dry_run", "test", "live"])
export type BookMode = typeof BookMode.Type

export interface Book {
  readonly mode: BookMode
  /** The account at the payment processor. A ledger older than this record does not have it until the next posting. */
  readonly accountId: string | undefined
}

/** The book of simulated payments. A ledger that was opened by it takes no other money. */
export const DRY_RUN: Book = { mode: "dry_run", accountId: "dry_run" }

const MONEY: Readonly<Record<BookMode, string>> = {
  dry_run: "simulated money of a dry run",
  test: "test money of the payment processor",
  live: "live money of the payment processor"
}

const NODE: Readonly<Record<BookMode, string>> = {
  dry_run: "a dry run",
  test: "the payment processor in test mode",
  live: "the payment processor in live mode"
}

/** A ledger holds the money of one mode and one processor account, and this posting is of another. */
export class WrongBook extends Schema.TaggedError<WrongBook>()("WrongBook", {
  found: Schema.Struct({ mode: BookMode, accountId: Schema.UndefinedOr(Schema.String) }),
  own: Schema.Struct({ mode: BookMode, accountId: Schema.UndefinedOr(Schema.String) })
}) {
  override get message() {
    const { found, own } = this
    return (
      `This database holds ${MONEY[found.mode]}${accountOf(found)}; this node is configured for ${NODE[own.mode]}` +
      `${accountOf(own)}.`
    )
  }
}

const accountOf = ({ accountId, mode }: Book): string =>
  mode === "dry_run" || accountId === undefined ? "" : ` (account ${accountId})`

export const isSameBook = (found: Book, own: Book): boolean =>
  found.mode === own.mode && (found.accountId === undefined || found.accountId === own.accountId)

/** Runs before a node starts. An empty ledger accepts any mode. */
export const mayStartOn = (found: Option.Option<Book>, own: Book): Effect.Effect<void, WrongBook> =>
  found._tag === "Some" && !isSameBook(found.value, own)
    ? Effect.fail(new WrongBook({ found: found.value, own }))
    : Effect.void
