/**
 * Asking the service for something, and what every answer is held against: it fails only where something failed it.
 */
import { Effect } from "effect"
import type { Answer, Call } from "../support/ServiceUnderTest.ts"
import { Violation } from "./Violation.ts"
import type { World } from "./World.ts"

export const one = <A>(from: ReadonlyArray<A>, which: number): A | undefined => from[which % from.length]

export const asking = Effect.fnUntraced(function* (world: World, call: Call) {
  const before = world.board.disturbances
  const answer = yield* world.send(call)
  yield* undisturbed(world, answer, before)
  return answer
})

/** `before`: how many disturbances there had been when it was asked. */
export const undisturbed = (world: World, answer: Answer, before: number) =>
  answer.status >= 500 && world.board.disturbances === before && !world.board.isLate
    ? wrong("no failure by itself", `${answer.status}: ${answer.text}`)
    : Effect.void

export const wrong = (rule: string, detail: string) => Effect.fail(new Violation({ rule, detail }))
