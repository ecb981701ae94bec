/**
 * Starts racers (see `ledgerRacer.ts`) in separate processes and lets them run at the same time.
 */
import { Effect } from "effect"
import { type ChildProcess, spawn } from "node:child_process"
import { once } from "node:events"
import { fileURLToPath } from "node:url"
import type { Finish, Race } from "../ledgerRacer.ts"

const SCRIPT = fileURLToPath(new URL("../ledgerRacer.ts", import.meta.url))
const READY = "ready\n"

/** Returns the counts of each process. */
export const letRace = (processes: number, race: Race) =>
  Effect.gen(function* () {
    const racers = yield* Effect.forEach(Array.from({ length: processes }), () => aRacer(race))
    yield* Effect.forEach(racers, (racer) => racer.says(READY), { discard: true })
    for (const racer of racers) racer.process.stdin!.write("go\n")
    return yield* Effect.forEach(racers, (racer) => racer.finish)
  }).pipe(Effect.scoped)

const aRacer = Effect.fnUntraced(function* (race: Race) {
  const process = yield* Effect.acquireRelease(
    Effect.sync(() => spawn(globalThis.process.execPath, [SCRIPT, JSON.stringify(race)], { stdio: "pipe" })),
    (process) => Effect.sync(() => process.kill("SIGKILL"))
  )
  const output = listenTo(process)
  return {
    process,
    says: (text: string) => Effect.promise(() => output.until((said) => said.includes(text))),
    finish: Effect.map(
      Effect.promise(() => output.until((said) => said.endsWith("}\n"))),
      (said): Finish => JSON.parse(said.slice(READY.length))
    )
  }
})

const listenTo = (process: ChildProcess) => {
  let said = ""
  let complained = ""
  process.stdout!.on("data", (chunk) => (said += chunk))
  process.stderr!.on("data", (chunk) => (complained += chunk))
  const ended = once(process, "exit").then(() => Promise.reject(new Error(`A racer ended early: ${complained}`)))
  ended.catch(() => {})
  const until = (enough: (said: string) => boolean): Promise<string> =>
    enough(said)
      ? Promise.resolve(said)
      : Promise.race([once(process.stdout!, "data"), ended]).then(() => until(enough))
  return { until }
}
