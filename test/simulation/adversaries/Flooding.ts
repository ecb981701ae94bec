/**
 * A ring opens as many calls of another provider's tool as may wait for input, and never answers. From then on no call of it
 * starts work that it could leave unpaid, and its ordinary calls run.
 */
import { Effect } from "effect"
import { SUSPENDED_CALLS_MAX } from "../../../domain/metering/CallStore.ts"
import { exchangeOf } from "../../support/metering/McpExchanges.ts"
import { wrong } from "../world/Asking.ts"
import { maximumOf } from "../world/Joining.ts"
import type { ActOf } from "../world/Step.ts"
import type { World } from "../world/World.ts"
import { asked, requestOf, worded } from "./Answering.ts"
import { othersTools, pair, ringOf } from "./Ring.ts"

const AT_ONE_PROVIDER = SUSPENDED_CALLS_MAX / 2

export const flood = Effect.fnUntraced(function* (world: World, act: ActOf<"RingFloods">) {
  const found = pair(world, ringOf(world, act.ring), act.who, act.tool, othersTools(world))
  if (found === undefined) return "skipped"
  const [buyer, tool] = found
  const before = world.board.disturbancesBefore
  const life = world.lives()
  const call = Effect.fnUntraced(function* (asks: number, asTask = false) {
    const word = yield* worded(world, tool, asks)
    const request = requestOf(word, false, buyer, tool, maximumOf(tool.terms), undefined, "{}")
    const exchange = exchangeOf(asTask ? { inSession: true, asTask } : {})
    return { word, outcome: yield* asked(world, { ...request, exchange }) }
  })
  const opened = yield* Effect.forEach(Array.from({ length: act.times }), () => call(1), { concurrency: "unbounded" })
  const waiting = opened.filter(
    ({ outcome }) => outcome._tag === "Success" && outcome.success._tag === "InputRequired"
  ).length
  if (waiting > AT_ONE_PROVIDER) return yield* wrong("few calls wait", `${waiting} at ${tool.provider.id}`)
  const { outcome: task, word } = yield* call(0, true)
  const { outcome: ordinary } = yield* call(0)
  const isFull = waiting === AT_ONE_PROVIDER
  if (!isFull || world.lives() !== life || world.board.wasDisturbedSince(before)) return `${waiting} wait`
  if ([...world.providers.forwarded.values()].some((one) => one.word === word)) {
    return yield* wrong("no work for nothing", `${word} was forwarded as a task beside ${waiting} that wait`)
  }
  if (ordinary._tag === "Success" && ordinary.success._tag === "Settled") {
    const { receipt_id: id, status } = ordinary.success.report.receipt
    if (status !== "success") return yield* wrong("ordinary calls run", `${id} says ${status}`)
  }
  return `full ${task._tag === "Failure" ? task.failure._tag : task.success._tag}`
})
