import { RuntimeError } from '../../../src/protocol/errors.ts'
import type { ServeOptions } from '../../bridge/src/server/serveOptions.ts'
import type { CliHost } from './cliHost.ts'
import type { Invocation } from './commandLine.ts'

/**
 * Returns a server's address and tokens, from `--port`, `--host` and `--token` or `ESCAPEMENT_TOKEN`.
 *
 * @throws RuntimeError `INVALID_OPTION` for an invalid port.
 */
export function addressOf(
  { port, host: address, token }: Pick<Invocation, 'port' | 'host' | 'token'>,
  { env }: Pick<CliHost, 'env'>,
  role: 'admin' | 'observe' = 'admin',
): Pick<ServeOptions, 'port' | 'host' | 'tokens'> {
  const given = token ?? env['ESCAPEMENT_TOKEN']
  const listenAt = portOf('--port', port)
  return {
    ...(listenAt === undefined ? {} : { port: listenAt }),
    ...(address === undefined ? {} : { host: address }),
    ...(given === undefined || given === '' ? {} : { tokens: { [given]: role } }),
  }
}

/** Reads the value of an option as a port. @throws RuntimeError `INVALID_OPTION` */
export function portOf(option: string, port: string | undefined): number | undefined {
  if (port === undefined || (/^\d{1,5}$/.test(port) && Number(port) <= 65_535))
    return port === undefined ? undefined : Number(port)
  throw new RuntimeError('INVALID_OPTION', `${option} takes a number up to 65535, not "${port}".`)
}

/** Returns the URL of a server's inspector page, opened at an agent. */
export const pageOf = ({ url }: { readonly url: string }, fragment = ''): string =>
  `${url.replace(/^ws/, 'http').replace(/bridge$/, '')}${fragment === '' ? '' : `#${fragment}`}`
