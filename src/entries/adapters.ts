/**
 * `agent-tool-billing/adapters`: the adapters of single ports that need no other package, for a core on your own secrets and
 * stores.
 */
export { layer as nodeDigest } from "../../adapters/crypto/NodeDigest.ts"
export { layer as nodeEntropy } from "../../adapters/crypto/NodeEntropy.ts"
export { layer as nodeLogSigner } from "../../adapters/crypto/NodeLogSigner.ts"
export { layer as nodeReceiptSigner } from "../../adapters/crypto/NodeReceiptSigner.ts"
export { layer as nodeSealer } from "../../adapters/crypto/NodeSealer.ts"
export { layer as jsonSchemas } from "../../adapters/jsonschema/LazyJsonSchemas.ts"
export { layer as noMailer } from "../../adapters/mail/NoMailer.ts"
export {
  beside as functionsBeside,
  layer as functionUpstream
} from "../../adapters/memory/metering/FunctionUpstream.ts"
export { layer as nothingPublished } from "../../adapters/memory/trust/NothingPublished.ts"
export { layer as dryRunGateway } from "../../adapters/payments/DryRunGateway.ts"
