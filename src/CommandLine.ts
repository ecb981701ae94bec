/**
 * The command line. A failure prints one sentence on stderr and ends with its exit code, 1 unless the failure has another.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Effect } from "effect"
import { serve } from "./Start.ts"
import { sentenceOf } from "./StartFailure.ts"

/** Loading the tree of commands would be a twentieth of a start (0.15 s of 3.0 s of CPU). The usual one does without. */
const command = (words: ReadonlyArray<string>) =>
  words.length === 0 || (words.length === 1 && words[0] === "serve")
    ? serve({})
    : Effect.flatMap(
        Effect.promise(() => import("./Commands.ts")),
        ({ runCommand }) => runCommand(words)
      )

const program = command(process.argv.slice(2)).pipe(
  Effect.tapError((error) => Console.error(sentenceOf(error))),
  // A database that is not available is one.
  Effect.tapDefect((defect) => Console.error(sentenceOf(defect instanceof Error ? defect : new Error(String(defect)))))
)

export const run = (): void => NodeRuntime.runMain(program, { disableErrorReporting: true })
