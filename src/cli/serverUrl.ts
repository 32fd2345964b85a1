import { bridgeUrl } from '../client/bridgeUrl.ts'
import { RuntimeError } from '../protocol/errors.ts'

/**
 * The URL of a bridge as a person may write it: as `connect` takes it, or `host:port`. Pure.
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
