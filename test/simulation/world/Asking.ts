/**
 * Requests to the service, and the rules for every response: it fails only after an injected fault.
 */
import { Effect } from "effect"
import { at } from "../../support/market/Market.ts"
import type { Call } from "../../support/market/ServiceUnderTest.ts"
import type { Answer } from "../../support/checks/Answer.ts"
import type { Keyed } from "../books/Facts.ts"
import { Violation } from "../books/Violation.ts"
import { nowMs, type World } from "./World.ts"

export const one = <A>(from: ReadonlyArray<A>, which: number): A | undefined => from[which % from.length]

export const asking = Effect.fnUntraced(function* (world: World, call: Call) {
  const before = world.board.disturbancesBefore
  const answer = yield* world.send(call)
  yield* undisturbed(world, answer, before)
  return answer
})

/** Under a key, so that a repetition gets the same response, and nothing is done twice. */
export const askingUnderKey = Effect.fnUntraced(function* (
  world: World,
  call: Call,
  sameAt?: string,
  learn?: (answer: Answer) => void
) {
  const headers = { ...call.headers, "idempotency-key": `key-${++world.facts.words}` }
  const keyed: Keyed = { call: { ...call, headers }, sameAt, sentAtMs: yield* nowMs, answered: undefined, learn }
  world.facts.keyed.push(keyed)
  return yield* askAgain(world, keyed)
})

export const askAgain = Effect.fnUntraced(function* (world: World, keyed: Keyed) {
  const answer = yield* asking(world, keyed.call)
  if (answer.status >= 300) return answer
  const said = keyed.sameAt === undefined ? answer.text : String(at(answer, keyed.sameAt))
  keyed.learn?.(answer)
  if ((keyed.answered ??= said) !== said) return yield* wrong("same answer", `${keyed.answered}, then ${said}`)
  return answer
})

/** The latest that a client sends again, well before the service forgets the key. */
export const lately = Effect.fnUntraced(function* <A extends { readonly sentAtMs: number }>(sent: ReadonlyArray<A>) {
  const now = yield* nowMs
  return sent.filter(({ sentAtMs }) => now - sentAtMs < SENT_AGAIN_WITHIN_MS).slice(-20)
})

const SENT_AGAIN_WITHIN_MS = 20 * 24 * 3_600_000

/** `before`: `disturbancesBefore`, of when it was asked. */
export const undisturbed = (world: World, answer: Answer, before: number) =>
  answer.status >= 500 && !world.board.wasDisturbedSince(before)
    ? wrong("no failure by itself", `${answer.status}: ${answer.text}`)
    : Effect.void

export const wrong = (rule: string, detail: string) => Effect.fail(new Violation({ rule, detail }))
