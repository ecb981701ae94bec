import { grantStoreContract } from "../../../testing/contracts/metering/GrantStoreContract.ts"
import { meterKeyStoreContract } from "../../../testing/contracts/metering/MeterKeyStoreContract.ts"
import { receiptStoreContract } from "../../../testing/contracts/receipts/ReceiptStoreContract.ts"
import { unfitOutputsContract } from "../../../testing/contracts/metering/UnfitOutputsContract.ts"
import { usageStoreContract } from "../../../testing/contracts/metering/UsageStoreContract.ts"
import { contractOverEveryStore } from "../../contracts/contractOverEveryStore.ts"
import { marketFiguresContract } from "../../../testing/contracts/catalog/MarketFiguresContract.ts"

contractOverEveryStore("ReceiptStore", receiptStoreContract)
contractOverEveryStore("UsageStore", usageStoreContract)
contractOverEveryStore("GrantStore", grantStoreContract)
contractOverEveryStore("MeterKeyStore", meterKeyStoreContract)
contractOverEveryStore("UnfitOutputs", unfitOutputsContract)
contractOverEveryStore("MarketFigures", marketFiguresContract)
