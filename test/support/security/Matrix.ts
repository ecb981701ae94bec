/**
 * What a row of the authorisation matrix says: how the endpoint is asked about the owners' objects, what each caller is
 * answered, what private things the answer shows, and whose books the call may change.
 */
import type { Call } from "../ServiceUnderTest.ts"
import type { Caller, Party } from "./Callers.ts"
import type { Mark, World } from "./World.ts"

export type Statuses = Readonly<Record<Caller, number>>
type PerCaller<A> = Partial<Readonly<Record<Caller, A>>>

export interface Row {
  readonly ask: (world: World, caller: Caller) => Omit<Call, "key">
  readonly answers: Statuses
  /** Exactly these: nothing else that is private, and nothing less. */
  readonly shows: PerCaller<ReadonlyArray<Mark>>
  /** Whose standing a call may change though another one makes it. Whoever calls may always change their own. */
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

/** Everybody, whatever key they send. */
export const anybody = (status = 200): Statuses => ({
  nobody: status,
  revoked: status,
  consumerOther: status,
  providerOther: status,
  operator: status,
  providerOwner: status,
  consumerOwner: status
})

/** Everybody but who sends a key that is none. */
export const anybodyHonest = (status: number): Statuses => ({ ...anybody(status), revoked: 401 })

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
