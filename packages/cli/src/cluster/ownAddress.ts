import { networkInterfaces } from 'node:os'

const everywhere: ReadonlySet<string | undefined> = new Set(['0.0.0.0', '::', '[::]'])

/**
 * Returns the host at which other machines reach the bridge of a process that listens on all addresses: this machine's first external address.
 * Returns `undefined` if the process listens at a specific address.
 */
export function ownAddress(host: string | undefined, port: number | undefined): string | undefined {
  if (!everywhere.has(host) || port === undefined) return undefined
  const addresses = Object.values(networkInterfaces()).flatMap((all) => all ?? [])
  const found = addresses.find(({ internal, family }) => !internal && family === 'IPv4')
  return found === undefined ? undefined : `ws://${found.address}:${port}/bridge`
}
