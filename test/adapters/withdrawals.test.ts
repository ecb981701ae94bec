import { spendingByLotContract } from "../../testing/contracts/SpendingByLotContract.ts"
import { withdrawalStoreContract } from "../../testing/contracts/WithdrawalStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("WithdrawalStore", withdrawalStoreContract)
contractOverEveryStore("SpendingByLot", spendingByLotContract)
