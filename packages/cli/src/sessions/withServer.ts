import type { Client } from '../../../bridge/src/client/client.ts'
import { connect } from '../../../bridge/src/client/connect.ts'
import { closeCodes } from '../../../wire/src/bridgeProtocol.ts'
import type { CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { refuse } from './sessionLogs.ts'
import { bridgeUrl } from '../../../bridge/src/client/connectOptions.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'

/** A connected server. */
export interface ReachedServer {
  readonly client: Client
  /** The address as the user wrote it, for suggested commands. */
  readonly address: string
}

/**
 * Connects to the command's server, does the work and disconnects. Does not wait for a server that is unreachable at first. Rejects
 * with `INVALID_OPTION`, `BRIDGE_UNAUTHORISED`, the error of the work, and the server's reason for closing permanently.
 */
export async function withServer(
  { before: [address = ''], token }: Invocation,
  host: CliHost,
  work: (server: ReachedServer) => Promise<number>,
): Promise<number> {
  const url = serverUrl(address)
  const silent = Promise.withResolvers<'silent'>()
  const Socket = class extends WebSocket {
    constructor(to: string, protocols: string[]) {
      super(to, protocols)
      const isSilent = (code?: number): void => {
        if (code !== closeCodes.unauthorised) silent.resolve('silent')
      }
      this.addEventListener('error', () => isSilent())
      this.addEventListener('close', ({ code }) => isSilent(code))
    }
  }
  const given = token ?? host.env['ESCAPEMENT_TOKEN'] ?? ''
  const client = connect(url, { webSocket: Socket, ...(given === '' ? {} : { token: given }) })
  try {
    const met = await Promise.race([client.ready, silent.promise])
    if (met === 'silent') return refuse(host, `No escapement server answers at ${url}.`)
    return await Promise.race([work({ client, address }), closedForGood(client)])
  } finally {
    client.close()
  }
}

/** Rejects with the reason once the server has closed the connection permanently. */
function closedForGood(client: Client): Promise<never> {
  const closed = Promise.withResolvers<never>()
  // Any call on a closed client rejects with the reason.
  client.onStatus((status) => status === 'closed' && void client.agents({ limit: 1 }).catch(closed.reject))
  closed.promise.catch(() => {})
  return closed.promise
}

/**
 * Parses the URL of a bridge as the user wrote it: as for `connect`, or `host:port`. Pure.
 *
 * @throws RuntimeError `INVALID_OPTION`, naming what was written.
 */
export function serverUrl(written: string): string {
  const isFull = /^(?:ws|http)s?:\/\//i.test(written)
  const isAddress = /^(?:[\w.-]+|\[[\da-f:.]+\]):\d{1,5}\/?$/i.test(written)
  const full = isFull ? written : `ws://${written}`
  const url = isFull || isAddress ? URL.parse(full) : null
  if (url === null || url.hostname === '' || url.username !== '' || url.hash !== '') {
    const what = `"${written}" is not the address of a server: write ws://host:port/bridge, http://host:port or host:port.`
    throw new RuntimeError('INVALID_OPTION', what)
  }
  return bridgeUrl(full)
}
