import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { serveGateway } from '../../../cluster/src/gateway/gateway.ts'
import { addressOf, pageOf } from '../addressOf.ts'
import { openOperations } from '../cluster/operations.ts'
import { readTokens } from '../cluster/tokensFile.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { exitCodes } from '../cliHost.ts'
import type { CommandRun } from '../command.ts'
import { programLog } from '../programLog.ts'
import { wantsJson } from '../sessions/sessionLogs.ts'
import { untilStopped } from '../signals.ts'
import { sharedLogs } from '../sessions/sharedLogs.ts'

/** `escapement gateway`: serves clients of many workers at a single address. */
export const gatewayCommand: CommandRun = async (invocation, host) => {
  const stopped = untilStopped(host)
  const address = addressOf(invocation, host)
  const secret = host.env['ESCAPEMENT_GATEWAY_SECRET'] ?? ''
  if (secret === '')
    throw new RuntimeError('INVALID_OPTION', '"gateway" needs ESCAPEMENT_GATEWAY_SECRET, which the workers have too.')
  const isJson = wantsJson(invocation, host)
  const log = programLog(host, { isJson })
  // Only a file that was named: the code of agents has no place here.
  const config = invocation.config === undefined ? undefined : await loadConfig(invocation, host)
  const listed = invocation.tokens === undefined ? {} : await readTokens(invocation.tokens, host.cwd())
  const tokens = { ...config?.gateway?.tokens, ...listed, ...address.tokens }
  const store = await sharedLogs(invocation, host).open(log.ofParts, config?.postgres)
  try {
    const operations = await openOperations(invocation, { store, log })
    try {
      const gateway = await serveGateway({
        ...config?.gateway,
        ...address,
        ...(Object.keys(tokens).length === 0 ? {} : { tokens }),
        directory: store,
        secret,
        logger: log.ofParts,
      })
      operations.metrics?.observeGateway(gateway)
      try {
        const page = pageOf(gateway)
        log.info({ url: gateway.url, pid: process.pid }, 'The gateway listens.')
        operations.serves()
        host.stdout.write(
          isJson
            ? `${JSON.stringify({ url: gateway.url, page })}\n`
            : `${gateway.url}\npage: ${page}\nCtrl-C stops the gateway; the agents keep running.\n`,
        )
        await stopped
        return exitCodes.done
      } finally {
        operations.leaves()
        log.info({ clients: gateway.connections }, 'The gateway ends.')
        await gateway.close()
      }
    } finally {
      await operations.close()
    }
  } finally {
    await store.close()
    log.close()
  }
}
