#!/usr/bin/env node
/**
 * The command line. What goes wrong at a start is one clear sentence on stderr and exit code 1.
 */
import * as NodeRuntime from "@effect/platform-node/NodeRuntime"
import { Console, Deferred, Effect, Layer } from "effect"
import { existsSync, readFileSync } from "node:fs"
import { portToListenOn } from "../adapters/http/server/FreePort.ts"
import { ListeningAt, layer as nodeServer } from "../adapters/http/server/NodeServer.ts"
import { type AppConfig, describeConfig, readConfig, valueOf } from "./config/AppConfig.ts"
import { type Arguments, helpText, parseArguments, readDotEnv } from "./config/Arguments.ts"
import { Fatal } from "./layers/Fatal.ts"
import { service } from "./layers/Service.ts"
import { logging, telemetry } from "./layers/Telemetry.ts"
import { audit } from "./Audit.ts"
import { closeMonth, workOnPayouts } from "./BooksCommands.ts"
import { forget } from "./Forget.ts"
import { fsck } from "./Fsck.ts"
import { migrate } from "./Migrate.ts"
import { sentenceOf } from "./StartFailure.ts"
import { verifyFiles } from "./VerifyFiles.ts"
import { welcome } from "./Welcome.ts"
import { witness } from "./Witness.ts"

const serve = Effect.fnUntraced(function* (given: AppConfig) {
  const config = { ...given, PORT: yield* portToListenOn(valueOf(given, "HOST"), valueOf(given, "PORT")) }
  return yield* serveOn(config)
})

const serveOn = (config: AppConfig) =>
  Effect.gen(function* () {
    yield* Console.log(welcome(config, yield* ListeningAt))
    return yield* Deferred.await(yield* Fatal)
  }).pipe(
    Effect.provide(
      nodeServer({
        host: valueOf(config, "HOST"),
        port: valueOf(config, "PORT"),
        drain: valueOf(config, "SHUTDOWN_GRACE_MS")
      }).pipe(Layer.provide(service(config)), Layer.provideMerge(Fatal.layer))
    )
  )

const commandOf = ({ command, forget: options, subject }: Arguments, config: AppConfig) => {
  switch (command) {
    case "migrate":
      return migrate(config)
    case "audit":
      return audit(config)
    case "fsck":
      return fsck(config)
    case "invoices":
      return closeMonth(config, subject)
    case "payouts":
      return workOnPayouts(config)
    case "forget":
      return forget(config, subject, options ?? { leaveMoney: false })
    default:
      return serve(config)
  }
}

const program = Effect.gen(function* () {
  const given = yield* Effect.fromResult(parseArguments(process.argv.slice(2)))
  const { command, flags, rest } = given
  if (command === "help") return yield* Console.log(helpText())
  if (command === "verify") return yield* verifyFiles(rest ?? [])
  if (command === "witness") return yield* witness(rest ?? [])
  const dotEnv = existsSync(".env") ? readDotEnv(readFileSync(".env", "utf8")) : {}
  // The one place where the environment is read: from here on there is only the configuration.
  const config = yield* Effect.fromResult(readConfig([flags, process.env, dotEnv]))
  if (command === "config") return yield* Console.log(describeConfig(config))
  const run = commandOf(given, config)
  return yield* command === "serve" ? Effect.provide(run, telemetry(config)) : Effect.provide(run, logging(config))
}).pipe(
  Effect.tapError((error) => Console.error(sentenceOf(error))),
  // Such as a database that goes away, or was never there, under a command that reads it.
  Effect.tapDefect((defect) => Console.error(sentenceOf(defect instanceof Error ? defect : new Error(String(defect)))))
)

NodeRuntime.runMain(program, { disableErrorReporting: true })
