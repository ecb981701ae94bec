import { grantStoreContract } from "../../testing/contracts/GrantStoreContract.ts"
import { meterKeyStoreContract } from "../../testing/contracts/MeterKeyStoreContract.ts"
import { receiptStoreContract } from "../../testing/contracts/ReceiptStoreContract.ts"
import { unfitOutputsContract } from "../../testing/contracts/UnfitOutputsContract.ts"
import { usageStoreContract } from "../../testing/contracts/UsageStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"
import { marketFiguresContract } from "../../testing/contracts/MarketFiguresContract.ts"

contractOverEveryStore("ReceiptStore", receiptStoreContract)
contractOverEveryStore("UsageStore", usageStoreContract)
contractOverEveryStore("GrantStore", grantStoreContract)
contractOverEveryStore("MeterKeyStore", meterKeyStoreContract)
contractOverEveryStore("UnfitOutputs", unfitOutputsContract)
contractOverEveryStore("MarketFigures", marketFiguresContract)
