/**
 * The script of pages whose only script is that of the configurations.
 */
import { connectPage } from "./ConnectTabs.browser.ts"

connectPage()
