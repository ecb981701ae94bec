/**
 * A row of the authorization matrix: the request for the owners' objects, the status for each caller, the private
 * values in the response, and whose records the call may change.
 */
import type { Call } from "../market/ServiceUnderTest.ts"
import type { Caller, Party } from "./Callers.ts"
import type { Mark, World } from "./World.ts"

export type Statuses = Readonly<Record<Caller, number>>
type PerCaller<A> = Partial<Readonly<Record<Caller, A>>>

export interface Row {
  readonly ask: (world: World, caller: Caller) => Omit<Call, "key">
  readonly answers: Statuses
  /** Exactly these: no other private value, and none missing. */
  readonly shows: PerCaller<ReadonlyArray<Mark>>
  /** Whose records a call of another account may change. Callers may always change their own. */
  readonly touches: PerCaller<ReadonlyArray<Party>>
}

export type Rows = Readonly<Record<string, Row>>

export const row = (
  answers: Statuses,
  ask: string | Row["ask"],
  more: Partial<Pick<Row, "shows" | "touches">> = {}
): Row => ({
  ask: typeof ask === "string" ? () => ({ path: ask }) : ask,
  answers,
  shows: more.shows ?? {},
  touches: more.touches ?? {}
})

/** Every caller, with any key. */
export const anybody = (status = 200): Statuses => ({
  nobody: status,
  revoked: status,
  consumerOther: status,
  providerOther: status,
  operator: status,
  providerOwner: status,
  consumerOwner: status
})

export const consumers = (owner: number, other = owner): Statuses => ({
  ...CLOSED,
  consumerOwner: owner,
  consumerOther: other
})

export const providers = (owner: number, other = owner): Statuses => ({
  ...CLOSED,
  providerOwner: owner,
  providerOther: other
})

export const accounts = (owners: number, others = owners): Statuses => ({
  ...consumers(owners, others),
  providerOwner: owners,
  providerOther: others
})

export const operators = (status: number): Statuses => ({ ...CLOSED, operator: status })

const CLOSED: Statuses = { ...anybody(403), nobody: 401, revoked: 401 }
