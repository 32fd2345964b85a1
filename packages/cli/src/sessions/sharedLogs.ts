import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { CliHost } from '../cliHost.ts'
import type { Invocation } from '../commandLine.ts'
import { storePlace, type StorePlace } from '../config/storePlace.ts'

/**
 * Returns the place of logs shared by several processes: that of `--logs`, or else of `ESCAPEMENT_LOGS`, or `fallback`.
 *
 * @throws RuntimeError `INVALID_OPTION` if none is given, and for a folder
 */
export function sharedLogs(
  { command, logs }: Pick<Invocation, 'command' | 'logs'>,
  { env, cwd }: Pick<CliHost, 'env' | 'cwd'>,
  fallback = '',
): StorePlace {
  const said = logs ?? env['ESCAPEMENT_LOGS'] ?? ''
  const address = said === '' ? fallback : said
  const forms = 'sqlite:<file> or postgres://…'
  if (address === '') {
    const what = `"${command}" needs --logs, or ESCAPEMENT_LOGS: the logs, which all workers share`
    throw new RuntimeError('INVALID_OPTION', `${what}: ${forms}.`)
  }
  const place = storePlace(address, cwd())
  if (place.folder === undefined) return place
  throw new RuntimeError(
    'INVALID_OPTION',
    `--logs "${address}" is a folder, whose agents no other worker can take: give ${forms}.`,
  )
}
