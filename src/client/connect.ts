import { Client } from './client.ts'
import { checkOptions, type ConnectOptions } from './connectOptions.ts'

/**
 * Connects to the bridge of a runtime, in a browser or in Node from 22 on, and stays connected: a connection that breaks is made
 * again, nothing that was asked is lost or done twice, and no record of a log is missed. Close it when it is not needed any more. `url`
 * is that of the bridge, or of the server that has it: `ws://127.0.0.1:8765/bridge`, `https://agents.example.com`. Where no
 * connection can be made, `onError` hears of it once, and the client goes on trying (`connectTimeoutMs`).
 *
 * @throws RuntimeError `INVALID_OPTION`
 */
export const connect = (url: string, options: ConnectOptions = {}): Client => new Client(checkOptions(url, options))
