import * as NodeLogSigner from "../../../adapters/crypto/NodeLogSigner.ts"
import { Redacted } from "effect"
import { logSignerContract } from "../../../testing/contracts/log/LogSignerContract.ts"
import { logStoreContract } from "../../../testing/contracts/log/LogStoreContract.ts"
import { logTailContract } from "../../../testing/contracts/log/LogTailContract.ts"
import { longLogContract } from "../../../testing/contracts/log/LongLogContract.ts"
import { contractOver } from "../../contracts/contractOver.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"

contractOverEveryStore("LogStore", logStoreContract)
contractOverEveryStore("LogStore with a long log", longLogContract)
contractOverEveryStore("LogStore that lost its tail", logTailContract)
contractOver("LogSigner", logSignerContract, NodeLogSigner.layer(Redacted.make("5e".repeat(32))))
