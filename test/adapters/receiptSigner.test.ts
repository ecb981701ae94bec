/**
 * Receipt signers: a key ring in the process, and a key elsewhere.
 */
import { Layer, Redacted } from "effect"
import * as NodeReceiptSigner from "../../adapters/crypto/NodeReceiptSigner.ts"
import { ReceiptSigner } from "../../domain/receipts/ReceiptSigner.ts"
import { receiptSignerContract } from "../contracts/receiptSigner.ts"
import { remoteSigner } from "../support/RemoteSigner.ts"

receiptSignerContract("a key in the process", (secret) => NodeReceiptSigner.layer([Redacted.make(secret)]))
receiptSignerContract("a remote key", (secret) => Layer.succeed(ReceiptSigner, remoteSigner(secret)))
