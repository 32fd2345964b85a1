import type { AddressInfo } from 'node:net'
import { hostname, networkInterfaces } from 'node:os'
import { placeOf } from './workerPlace.ts'

/**
 * Returns the places by which others may know a server: its advertised address, and the address that it listens at or, for a server on
 * all addresses, each address of this machine. None for a server that listens on no port and advertises nothing.
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
      placeOf(`ws://${host.includes(':') ? `[${host.split('%')[0]}]` : host}:${address.port}${path}`),
    ),
  ])
}
