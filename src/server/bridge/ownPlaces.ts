import type { AddressInfo } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'

/** Names of this machine for itself. */
const loopback: ReadonlySet<string> = new Set(['127.0.0.1', '[::1]', '0.0.0.0', '[::]'])

/** The place that the address of a bridge names, by whatever protocol: its host, port and path. One that is no address is its own. */
export function placeOf(address: string): string {
  const url = URL.parse(address)
  if (url === null) return address
  const { protocol, hostname: host, pathname } = url
  const port = url.port === '' ? (protocol === 'wss:' ? '443' : '80') : url.port
  return `${loopback.has(host) ? 'localhost' : host}:${port}${pathname}`
}

/**
 * The places at which others may know a server: what it advertises and where it listens; of one on all addresses, at each of this machine.
 * None of one that listens on no port and advertises nothing.
 */
export function ownPlaces(
  advertise: string | false | undefined,
  address: Pick<AddressInfo, 'address' | 'port'> | undefined,
  path: string,
): ReadonlySet<string> {
  const said = typeof advertise === 'string' ? [placeOf(advertise)] : []
  if (address === undefined) return new Set(said)
  const isAnywhere = address.address === '0.0.0.0' || address.address === '::'
  const others = isAnywhere
    ? Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map((one) => one.address))
    : []
  const hosts = [address.address, ...others, ...(isAnywhere ? [hostname()] : [])]
  return new Set([
    ...said,
    ...hosts.map((host) =>
      placeOf(`ws://${host.includes(':') ? `[${host.replace(/%.*$/, '')}]` : host}:${address.port}${path}`),
    ),
  ])
}
