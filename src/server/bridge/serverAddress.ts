import type { Server } from 'node:http'
import { Server as TlsServer } from 'node:tls'
import type { AddressInfo } from 'node:net'
import { bridgePath } from './serveOptions.ts'

type Address = Pick<AddressInfo, 'address' | 'port'>

/** Where a server listens now; `undefined`: nowhere, or not on a port. */
function addressOf(server: Server): Address | undefined {
  const address = server.address()
  return address === null || typeof address === 'string' ? undefined : address
}

/** The port a server listens on now; 0: none. */
export const portOf = (server: Server): number => addressOf(server)?.port ?? 0

/** A server that listens on every address is reached by that of this machine. */
const reachable: Readonly<Record<string, string>> = { '0.0.0.0': '127.0.0.1', '::': '[::1]' }

/** Where clients of a server connect, as it listens now unless told; empty: nowhere. */
export function urlOf(server: Server, address: Address | undefined = addressOf(server)): string {
  if (address === undefined) return ''
  const host = address.address.includes(':') ? `[${address.address}]` : address.address
  const scheme = server instanceof TlsServer ? 'wss' : 'ws'
  return `${scheme}://${reachable[address.address] ?? host}:${address.port}${bridgePath}`
}
