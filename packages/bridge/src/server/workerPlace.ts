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
