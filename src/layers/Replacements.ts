/**
 * The ports that `service` lets an embedder replace. Stores of the `Books` are replaced together or not at all.
 */
import { type Context, Effect, Layer, Schema } from "effect"
import type { RateLimiter } from "effect/persistence"
import type { JsonSchemas } from "../../domain/catalog/JsonSchemas.ts"
import type { InvoicePrinter } from "../../domain/invoices/InvoicePrinter.ts"
import type { LogHome } from "../../domain/log/Sequencer.ts"
import type { LogSigner } from "../../domain/log/LogSigner.ts"
import type { MeterKeyStore } from "../../domain/metering/MeterKeyStore.ts"
import type { ProviderSecrets } from "../../domain/metering/ProviderSecrets.ts"
import type { ToolUpstream } from "../../domain/metering/ToolUpstream.ts"
import type { UnfitOutputs } from "../../domain/metering/UnfitOutputs.ts"
import type { CheckoutReturn } from "../../domain/payments/Loads.ts"
import type { PaymentGateway } from "../../domain/payments/PaymentGateway.ts"
import type { HealthHistoryStore } from "../../domain/platform/HealthHistoryStore.ts"
import type { SchemaKeeper } from "../../domain/platform/SchemaKeeper.ts"
import type { StoreWatch } from "../../domain/platform/StoreWatch.ts"
import type { SubmissionStore } from "../../domain/platform/SubmissionStore.ts"
import type { WaitlistStore } from "../../domain/platform/WaitlistStore.ts"
import type { ReceiptSigner } from "../../domain/receipts/ReceiptSigner.ts"
import type { Digest } from "../../domain/shared/Digest.ts"
import type { Entropy } from "../../domain/shared/Entropy.ts"
import type { Sealer } from "../../domain/shared/Sealer.ts"
import type { Mailer } from "../../domain/trust/Mailer.ts"
import type { ProofReader } from "../../domain/trust/ProofReader.ts"
import { type Books, type BooksPort, nameOf } from "./Books.ts"

/** Each can be replaced alone. */
export type ReplaceablePort =
  | CheckoutReturn
  | Digest
  | Entropy
  | HealthHistoryStore
  | InvoicePrinter
  | JsonSchemas
  | LogHome
  | LogSigner
  | Mailer
  | MeterKeyStore
  | PaymentGateway
  | ProofReader
  | ProviderSecrets
  | RateLimiter.RateLimiter
  | ReceiptSigner
  | SchemaKeeper
  | Sealer
  | StoreWatch
  | SubmissionStore
  | ToolUpstream
  | UnfitOutputs
  | WaitlistStore

type NotReplaceableIn<Out> = Exclude<Out, ReplaceablePort | (Books extends Out ? Books | BooksPort : never)>

/** Never made: the compiler shows it where a port cannot be replaced. */
export interface CannotReplace<Port> {
  readonly "service() cannot replace this port. Stores are replaced together, with Books.layer": Port
}

/** A layer of ports that can be replaced; settings (`Context.Reference`) included. */
export type Replacements<Out, E, R> = Layer.Layer<Out, E, R> &
  ([NotReplaceableIn<Out>] extends [never] ? unknown : CannotReplace<NotReplaceableIn<Out>>)

export class PortsIgnored extends Schema.TaggedError<PortsIgnored>()("PortsIgnored", {
  ports: Schema.Array(Schema.String)
}) {
  override get message() {
    return (
      `${this.ports.join(", ")}: provided to service() with Layer.provide, which has no effect, because service() provides ` +
      "its own. Pass a layer of ports as the second argument: service(config, ports)."
    )
  }
}

/** Fails if the surrounding layers provide a port that `service` provides itself. */
export const rejectIgnored = (given: Context.Context<never>, own: ReadonlyArray<{ readonly key: string }>) =>
  Effect.flatMap(Effect.context<never>(), (around) => {
    const ignored = own.filter(({ key }) => around.mapUnsafe.has(key) && !given.mapUnsafe.has(key))
    return ignored.length === 0 ? Effect.void : Effect.fail(new PortsIgnored({ ports: ignored.map(nameOf) }))
  })

/** The default adapter, or nothing if all of its ports are given: then it is not built. */
export const unlessGiven =
  (given: Context.Context<never>) =>
  <A, E, R>(adapter: Layer.Layer<A, E, R>, ...ports: ReadonlyArray<{ readonly key: string }>): Layer.Layer<A, E, R> =>
    ports.every(({ key }) => given.mapUnsafe.has(key))
      ? (Layer.succeedContext(given) as unknown as Layer.Layer<A, E, R>)
      : adapter
