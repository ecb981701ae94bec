/**
 * Receipt signers: a key ring in the process, and a key elsewhere.
 */
import { Layer, Redacted } from "effect"
import * as NodeReceiptSigner from "../../../adapters/crypto/NodeReceiptSigner.ts"
import { ReceiptSigner } from "../../../domain/receipts/Receipts.ts"
import { receiptSignerContract } from "../../../testing/contracts/receipts/ReceiptSignerContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { remoteSigner } from "../../support/market/RemoteSigner.ts"

const inProcess = receiptSignerContract((secret) => NodeReceiptSigner.layer([Redacted.make(secret)]))
const remote = receiptSignerContract((secret) => Layer.succeed(ReceiptSigner, remoteSigner(secret)))

contractOver("ReceiptSigner with a key in the process", inProcess, Layer.empty)
contractOver("ReceiptSigner with a remote key", remote, Layer.empty)
