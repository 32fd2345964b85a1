import { randomBytes } from 'node:crypto'
import { mkdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { packageFile } from '../../../charts/src/packageFile.ts'
import { systemClock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import { serveGateway } from '../../../cluster/src/gateway/gateway.ts'
import { addressOf, pageOf } from '../addressOf.ts'
import { type CliHost, exitCodes } from '../cliHost.ts'
import { startCluster, type ClusterEvent } from '../cluster/cluster.ts'
import { engineProgram } from '../cluster/engineProgram.ts'
import type { CommandRun } from '../command.ts'
import type { Invocation } from '../commandLine.ts'
import { definitionsFor } from '../config/configAgents.ts'
import { loadConfig } from '../config/loadConfig.ts'
import { programLog, spokenLine } from '../programLog.ts'
import { takeOutput } from '../protocolOutput.ts'
import { readCount, wantsJson } from '../sessions/sessionLogs.ts'
import { untilStopped } from '../signals.ts'
import { sharedLogs } from '../sessions/sharedLogs.ts'

const mostWorkers = 64

/** `escapement cluster [module]`: runs an engine, workers and a gateway on this machine, for development. */
export const clusterCommand: CommandRun = async (invocation, host) => {
  const { dir = '.', workers: count = '2', engine: named } = invocation
  const workers = readCount('--workers', count)
  if (workers < 1 || workers > mostWorkers)
    throw new RuntimeError('INVALID_OPTION', `--workers takes a number from 1 to ${mostWorkers}, not ${count}.`)
  const address = addressOf(invocation, host)
  const folder = resolve(host.cwd(), dir)
  const own = join(folder, '.escapement')
  const logs = sharedLogs(invocation, host, `sqlite:${join(own, 'cluster.db')}`)
  const program = engineProgram(named, folder)
  const isJson = wantsJson(invocation, host)
  const log = programLog(host, { isJson })
  await checkModule(invocation, host, isJson)
  await mkdir(own, { recursive: true })
  const secret = randomBytes(24).toString('hex')
  const stopping = new AbortController()
  const stopped = untilStopped(host).then(() => {
    stopping.abort(new RuntimeError('INTERNAL', 'It was stopped before everything had started.'))
    return exitCodes.interrupted
  })
  const cluster = await startCluster({
    signal: stopping.signal,
    program,
    folder: join(own, 'cluster'),
    workers,
    workerArgs: (ingress) => [...workerArgs(invocation), '--ingress', ingress],
    cwd: host.cwd(),
    env: { ...host.env, ESCAPEMENT_LOGS: logs.typed, ESCAPEMENT_GATEWAY_SECRET: secret },
    clock: systemClock,
    told: (event) => tell(event, host, isJson),
    log,
  })
  try {
    const { engine } = cluster
    const store = await logs.open(log.ofParts)
    const gateway = await serveGateway({ ...address, directory: store, secret, logger: log.ofParts })
    try {
      const page = pageOf(gateway)
      const { ingress, admin, logFile } = engine
      host.stdout.write(
        isJson
          ? `${JSON.stringify({ url: gateway.url, page, ingress, admin, workers, logs: logs.address })}\n`
          : `${gateway.url}\npage: ${page}\nengine: ${ingress} (requests), ${admin} (administration), log ${logFile}\nlogs: ${logs.address}\nCtrl-C stops everything.\n`,
      )
      return await Promise.race([stopped.then(() => exitCodes.done), engine.ended.then(() => exitCodes.failed)])
    } finally {
      await gateway.close()
      await store.close()
    }
  } finally {
    await cluster.close()
    log.close()
  }
}

/** Returns a worker's line in words; `undefined` for level `info`, because the cluster itself reports starts and ends. */
function ofWorker(worker: string, line: string): string | undefined {
  const said = spokenLine(line)
  if (said === undefined) return `${worker}: ${line}`
  return said.level === 'info' ? undefined : `${worker}: ${said.words}`
}

/** Loads the module once, so that a mistake is reported once and not by each worker. Its output is kept apart from JSON. */
async function checkModule(invocation: Invocation, host: CliHost, isJson: boolean): Promise<void> {
  const output = isJson ? takeOutput(host) : undefined
  try {
    await definitionsFor(invocation, await loadConfig(invocation, host), host)
  } finally {
    output?.giveBack()
  }
}

/** Returns the arguments of Node that start a worker with the same agents: this program and its options. */
function workerArgs({ task, dir, config, noConfig, model }: Invocation): string[] {
  const program = import.meta.url.endsWith('.ts') ? packageFile('packages/cli/src/main.ts') : packageFile('dist/cli.js')
  if (program === undefined) throw new RuntimeError('FILE_MISSING', 'The program of "escapement" is not there.')
  const option = (name: string, value: string | undefined): string[] => (value === undefined ? [] : [name, value])
  return [
    fileURLToPath(program),
    'worker',
    ...(task === undefined ? [] : [task]),
    ...option('--dir', dir),
    ...option('--config', config),
    ...(noConfig ? ['--no-config'] : []),
    ...option('--model', model),
    // Whoever ends it waits; beyond this a worker is killed.
    '--drain',
    '5000',
    '--json',
    '--port',
    '0',
  ]
}

function tell(event: ClusterEvent, { stderr }: CliHost, isJson: boolean): void {
  const line = isJson ? JSON.stringify(event) : inWords(event)
  if (line !== undefined) stderr.write(`${line}\n`)
}

/** Describes an event; `undefined` if it is no news to a person at the terminal. */
function inWords(event: ClusterEvent): string | undefined {
  switch (event.type) {
    case 'worker.up':
      return `${event.worker} is up (process ${event.pid}, ${new URL(event.bridge).host})`
    case 'worker.gone':
      return `${event.worker} ended ${event.how}; restarting it`
    case 'worker.said':
      return ofWorker(event.worker, event.line)
    case 'worker.killed':
      return `${event.worker} did not end by itself, and was killed`
    case 'engine.gone':
      return `The engine has ended; its log is ${event.log}`
  }
}
