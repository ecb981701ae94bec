import { platformFiguresContract } from "../../testing/contracts/PlatformFiguresContract.ts"
import { submissionStoreContract } from "../../testing/contracts/SubmissionStoreContract.ts"
import { waitlistStoreContract } from "../../testing/contracts/WaitlistStoreContract.ts"
import { contractOverEveryStore } from "../contracts/contractOverEveryStore.ts"

contractOverEveryStore("WaitlistStore", waitlistStoreContract)
contractOverEveryStore("SubmissionStore", submissionStoreContract)
contractOverEveryStore("PlatformFigures", platformFiguresContract)
