/**
 * The ports that `service` lets an embedder replace. Stores of the `Books` are replaced together or not at all.
 */
import { type Context, Effect, Equal, Layer, Schema } from "effect"
import { RateLimiter } from "effect/persistence"
import { JsonSchemas } from "../../domain/catalog/JsonSchemas.ts"
import { InvoicePrinter } from "../../domain/invoices/Invoice.ts"
import { PaymentGateway } from "../../domain/ledger/PaymentGateway.ts"
import { LogSigner } from "../../domain/log/LogStore.ts"
import { LogHome } from "../../domain/log/Sequencer.ts"
import { ProviderSecrets } from "../../domain/metering/ProviderSecrets.ts"
import { CheckoutReturn } from "../../domain/payments/Loads.ts"
import { ReceiptSigner } from "../../domain/receipts/Receipts.ts"
import { Digest, Entropy, Sealer } from "../../domain/shared/Cryptography.ts"
import { Mailer } from "../../domain/trust/Mailer.ts"
import { ProofReader } from "../../domain/trust/Verification.ts"
import { ProviderServers } from "../../domain/upstream/ProviderServers.ts"
import { ToolUpstream } from "../../domain/upstream/ToolUpstream.ts"
import { type Books, type BooksPort, nameOf } from "./Books.ts"
import { STORED, type storesAlone } from "./ProfileStores.ts"

const otherPorts = [
  CheckoutReturn,
  Digest,
  Entropy,
  InvoicePrinter,
  JsonSchemas,
  LogHome,
  LogSigner,
  Mailer,
  PaymentGateway,
  ProofReader,
  ProviderSecrets,
  ProviderServers,
  RateLimiter.RateLimiter,
  ReceiptSigner,
  Sealer,
  ToolUpstream
] as const

/** The ports that `service` replaces with yours one by one; stores of `Books` are replaced together. */
export type ReplaceablePort = Context.Service.Identifier<(typeof otherPorts | typeof storesAlone)[number]>

const PORTS: ReadonlyArray<{ readonly key: string }> = [...otherPorts, ...STORED]

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
      "its own. Pass a layer of ports as the second argument: service(options, ports)."
    )
  }
}

/**
 * Fails if the surrounding layers provide a port that `service` provides itself, or a setting with another value than
 * the service's. The service's own settings may be around it, as in a program with two services.
 */
export const rejectIgnored = (given: Context.Context<never>, settings: Context.Context<never>) =>
  Effect.flatMap(Effect.context<never>(), ({ mapUnsafe: around }) => {
    const differing = [...settings.mapUnsafe]
      .filter(([key, own]) => around.has(key) && !Equal.equals(around.get(key), own))
      .map(([key]) => ({ key }))
    const ports = [...PORTS.filter(({ key }) => around.has(key)), ...differing]
    const ignored = new Set(ports.filter(({ key }) => !given.mapUnsafe.has(key)).map(nameOf))
    return ignored.size === 0 ? Effect.void : Effect.fail(new PortsIgnored({ ports: [...ignored] }))
  })

/** The default adapter, or nothing if all of its ports are given: then it is not built. */
export const unlessGiven =
  (given: Context.Context<never>) =>
  <A, E, R>(adapter: Layer.Layer<A, E, R>, ...ports: ReadonlyArray<{ readonly key: string }>): Layer.Layer<A, E, R> =>
    ports.every(({ key }) => given.mapUnsafe.has(key))
      ? (Layer.succeedContext(given) as unknown as Layer.Layer<A, E, R>)
      : adapter
