import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { loadPeer } from '../../../../src/protocol/ports/loadPeer.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { RestateWorker } from '../../../cluster/src/restate/restateWorker.ts'
import { allTracers } from '../../../otel/src/allTracers.ts'
import type { ServeOptions } from '../../../bridge/src/server/serveOptions.ts'
import { addressOf, portOf } from '../addressOf.ts'
import { exitCodes, type CliHost } from '../cliHost.ts'
import { ownAddress } from '../cluster/ownAddress.ts'
import { checkDeployment, checkUrl, registerDeployment } from '../cluster/registerDeployment.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { wakeableFor } from '../config/configAgents.ts'
import { openOperations, type Operations } from '../cluster/operations.ts'
import { loadConfig } from '../config/loadConfig.ts'
import type { LoadedConfig } from '../config/readConfig.ts'
import { settingsOf } from '../sessions/openWork.ts'
import { programLog, type ProgramLog } from '../programLog.ts'
import { takeOutput } from '../protocolOutput.ts'
import { readCount, wantsJson } from '../sessions/sessionLogs.ts'
import { untilStopped } from '../signals.ts'
import { sharedLogs } from '../sessions/sharedLogs.ts'

/** `escapement worker [module]`: runs agents for an engine, until it is told to end or the process that started it is gone. */
export const workerCommand: CommandRun = async (invocation, host) => {
  const { register, url: at } = invocation
  if ((register === undefined) !== (at === undefined))
    throw new RuntimeError(
      'INVALID_OPTION',
      '--register and --url go together: the engine, and where it reaches the workers.',
    )
  if (register !== undefined && at !== undefined) checkDeployment(register, at)
  if (invocation.ingress !== undefined) checkUrl('--ingress', invocation.ingress)
  const ending = new AbortController()
  const { signal } = ending
  const isJson = wantsJson(invocation, host)
  // Whoever reads where it is reached reads nothing that its modules print.
  const output = isJson ? takeOutput(host) : undefined
  const log = programLog(host, { isJson })
  // Heard from the first moment: who started it may be gone before it is up.
  const stopped = Promise.race([untilStopped(host), untilAlone(host, signal)])
  try {
    const open = await openWorker(invocation, host, log)
    const { operations } = open
    try {
      const addresses = await listen(open, invocation, host)
      log.info({ ...addresses, pid: process.pid }, 'The worker listens.')
      if (register !== undefined && at !== undefined) {
        const registering = registerDeployment(register, at, {
          clock: systemClock,
          signal,
          told: (why) =>
            log.warn({ url: at, error: why }, 'The engine does not know the workers yet; it is told again.'),
        })
        const isStopped = await Promise.race([stopped.then(() => true), registering.then(() => false)])
        if (isStopped) return exitCodes.done
        log.info({ engine: register, url: at }, 'The engine knows the workers.')
      }
      operations.serves()
      // Who reads this takes the worker for ready.
      if (output !== undefined) output.stream.write(`${JSON.stringify(addresses)}\n`)
      else
        host.stdout.write(
          `for the engine: ${addresses.url}\nfor gateways: ${addresses.bridge}\nCtrl-C stops it; other workers take over its agents.\n`,
        )
      await stopped
      return exitCodes.done
    } finally {
      const { agents, attempts } = open.worker.figures()
      log.info({ agents, attempts, drainMs: open.drainMs }, 'The worker ends, and lets go of its agents.')
      operations.leaves()
      ending.abort()
      await open.worker.close({ drainMs: open.drainMs })
      await operations.close()
      log.info({}, 'The worker has ended.')
    }
  } finally {
    ending.abort()
    log.close()
    output?.giveBack()
  }
}

/** A worker with its store and definitions. */
interface OpenWorker {
  readonly worker: RestateWorker
  readonly operations: Operations
  readonly drainMs: number
  readonly config: LoadedConfig | undefined
  readonly store: Store
  readonly definitions: readonly AgentDefinition[]
}

const defaultDrainMs = 20_000

async function openWorker(invocation: Invocation, host: CliHost, log: ProgramLog): Promise<OpenWorker> {
  const logs = sharedLogs(invocation, host)
  const config = await loadConfig(invocation, host)
  const { drainMs: drains, limits: _, endpoints: __, tracer: own, ...settings } = config?.worker ?? {}
  const drainMs = invocation.drain === undefined ? (drains ?? defaultDrainMs) : readCount('--drain', invocation.drain)
  const warm = invocation.warm === undefined ? {} : { warm: readCount('--warm', invocation.warm) }
  const { definitions, machines } = await wakeableFor(invocation, config, host)
  const keys = (host.env['ESCAPEMENT_ENGINE_KEYS'] ?? '').split(',').filter((key) => key !== '')
  const { restateWorker } = await loadPeer(
    () => import('../../../cluster/src/restate/restateWorker.ts'),
    '"worker"',
    '@restatedev/restate-sdk',
  )
  const store = await logs.open(log.ofParts, config?.postgres)
  const operations = await openOperations(invocation, { store, log })
  const { metrics } = operations
  const tracers = [own, metrics].filter((tracer) => tracer !== undefined)
  try {
    const worker = await restateWorker({
      ...settingsOf(config).runtime,
      ...(config?.serve?.deps === undefined ? {} : { deps: config.serve.deps }),
      ...settings,
      ...warm,
      definitions,
      machines,
      store,
      logger: log.ofParts,
      ...(tracers.length === 0 ? {} : { tracer: allTracers(...tracers) }),
      ...(keys.length === 0 ? {} : { identityKeys: keys }),
    })
    metrics?.observeWorker(worker)
    return { worker, operations, drainMs, config, store, definitions }
  } catch (thrown) {
    await operations.close()
    await store.close()
    throw thrown
  }
}

/** Sends clients' commands to the engine, which places agents. Without the engine's address, clients can only observe. */
async function dispatchOf({ ingress }: Invocation, store: Store): Promise<Pick<ServeOptions, 'dispatch' | 'role'>> {
  if (ingress === undefined) return { role: 'observe' }
  const { restateDispatch } = await import('../../../cluster/src/restate/restateDispatch.ts')
  return { dispatch: await restateDispatch({ ingress, store }) }
}

/** Listens for the engine and for gateways; returns the addresses. */
async function listen(
  { worker, store, definitions, config, operations }: OpenWorker,
  invocation: Invocation,
  host: CliHost,
): Promise<{ readonly url: string; readonly bridge: string }> {
  const { port, host: listenOn } = addressOf(invocation, host)
  const secret = host.env['ESCAPEMENT_GATEWAY_SECRET'] ?? ''
  const where = listenOn === undefined ? {} : { host: listenOn }
  const { ingress } = invocation
  if (secret !== '' && ingress === undefined)
    throw new RuntimeError('INVALID_OPTION', '"worker" needs --ingress with a gateway: where its clients’ commands go.')
  const bridgePort = portOf('--bridge-port', invocation.bridgePort)
  const advertise = invocation.advertise ?? ownAddress(listenOn, bridgePort)
  const { limits, endpoints } = config?.worker ?? {}
  const bridge = await worker.runtime.serve({
    ...where,
    ...(limits === undefined ? {} : { limits }),
    ...(endpoints === undefined ? {} : { endpoints }),
    definitions,
    ...(await dispatchOf(invocation, store)),
    ...(bridgePort === undefined ? {} : { port: bridgePort }),
    ...(secret === '' ? {} : { gatewaySecret: secret }),
    ...(advertise === undefined ? {} : { advertise }),
    inspector: false,
  })
  operations.hasClients(() => bridge.connections)
  const { url } = await worker.listen({ ...where, ...(port === undefined ? {} : { port }) })
  return { url, bridge: bridge.url }
}

/** Resolves when the parent process with a channel to this one is gone. Never resolves without such a parent. */
function untilAlone(host: CliHost, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    host.on('disconnect', resolve)
    // It would keep the process.
    signal.addEventListener('abort', () => host.off('disconnect', resolve), { once: true })
  })
}
