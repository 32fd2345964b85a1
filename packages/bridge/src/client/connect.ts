import { Client } from './client.ts'
import { checkOptions, type ConnectOptions } from './connectOptions.ts'

/**
 * Connects to a runtime's bridge, from a browser or Node 22 or newer, and stays connected: a broken connection is
 * re-established, no command is lost or executed twice, and no log record is missed. Close it when you no longer need
 * it. `url` is the bridge's or its server's: `ws://127.0.0.1:8765/bridge`, `https://agents.example.com`. If no
 * connection can be made, `onError` is called once and the client keeps trying (see `connectTimeoutMs`).
 *
 * @throws RuntimeError `INVALID_OPTION`
 *
 * @example
 * ```ts no-run
 * import { connect } from 'escapement/client'
 *
 * const client = connect('http://127.0.0.1:8080')
 * const agent = await client.spawn('coder')
 * const { text } = await agent.prompt('Fix the failing test').result
 * client.close()
 * ```
 */
export const connect = (url: string, options: ConnectOptions = {}): Client => new Client(checkOptions(url, options))
