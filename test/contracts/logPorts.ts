/**
 * Ports of the log over memory and PostgreSQL.
 */
import { Layer } from "effect"
import * as PostgresLogStore from "../../adapters/sql/log/PostgresLogStore.ts"
import * as NodeEntropy from "../../adapters/crypto/NodeEntropy.ts"
import { Ledger } from "../../domain/ledger/Ledger.ts"
import type { LogStore } from "../../domain/log/LogStore.ts"
import { LogHome } from "../../domain/log/Sequencer.ts"
import { memoryStores } from "../../src/layers/MemoryStores.ts"
import { type MeteringPorts, postgresMetering } from "./meteringPorts.ts"

export type LogPorts = MeteringPorts | LogHome | LogStore

const home = Layer.succeed(LogHome, "localhost/log")

export const memoryLogPorts: Layer.Layer<LogPorts> = Ledger.layer.pipe(
  Layer.provideMerge(Layer.mergeAll(memoryStores, NodeEntropy.layer, home))
)

export const postgresLogPorts = Layer.merge(PostgresLogStore.layer, home).pipe(Layer.provideMerge(postgresMetering))
