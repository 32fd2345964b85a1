import { join } from 'node:path'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import type { Logger } from '../../../../src/protocol/ports/logger.ts'
import { Balancer } from './balancer.ts'
import { Engine } from './engine.ts'
import { registerDeployment } from './registerDeployment.ts'
import { WorkerProcess } from './workerProcess.ts'

/** Options of `startCluster`: the engine and workers of a cluster on this machine. */
export interface ClusterOptions {
  /** Path of the engine's program. */
  readonly program: string
  /** Folder of the engine's data. */
  readonly folder: string
  readonly workers: number
  /** Returns the arguments of Node that start a worker; `ingress` is the address at which the engine takes requests. */
  readonly workerArgs: (ingress: string) => readonly string[]
  readonly cwd: string
  readonly env: NodeJS.ProcessEnv
  readonly clock: Clock
  /** Called with every event of the cluster. */
  readonly told: (event: ClusterEvent) => void
  readonly log: Logger
  /** Aborts the start; `startCluster` then rejects with its reason. */
  readonly signal: AbortSignal
}

/** An event of a cluster. */
export type ClusterEvent =
  | { readonly type: 'worker.up'; readonly worker: string; readonly pid: number; readonly bridge: string }
  | { readonly type: 'worker.gone'; readonly worker: string; readonly how: string }
  /** A worker was killed at shutdown because it did not release its agents in time. */
  | { readonly type: 'worker.killed'; readonly worker: string }
  | { readonly type: 'worker.said'; readonly worker: string; readonly line: string }
  | { readonly type: 'engine.gone'; readonly log: string }

/** A development cluster on this machine: an engine, its workers and the balancer between them. Created by `startCluster`. */
export interface Cluster {
  readonly engine: Engine
  /** Address at which the engine reaches the workers. */
  readonly url: string
  /** Shuts the cluster down in order: workers release their agents, then the engine ends. Idempotent. */
  close(): Promise<void>
}

/**
 * Starts an engine and workers, and registers the workers with the engine. Resolves once all are up.
 *
 * @throws RuntimeError `INTERNAL` when one does not come up
 */
export async function startCluster(options: ClusterOptions): Promise<Cluster> {
  const { program, folder, env, clock, told, log, signal } = options
  const ending = new AbortController()
  const closing: (() => Promise<void>)[] = []
  let closed: Promise<void> | undefined
  const close = (): Promise<void> => {
    closed ??= (async () => {
      ending.abort()
      for (const end of closing.toReversed()) await end()
    })()
    return closed
  }
  const stopped = Promise.withResolvers<never>()
  stopped.promise.catch(() => {})
  const stop = (): void => stopped.reject(signal.reason as Error)
  signal.addEventListener('abort', stop, { once: true })
  try {
    signal.throwIfAborted()
    const engine = await Engine.start({ program, folder: join(folder, 'engine'), env, clock })
    closing.push(() => engine.end())
    void engine.ended.then(() => ending.signal.aborted || told({ type: 'engine.gone', log: engine.logFile }))
    const balancer = await Balancer.listen(clock)
    closing.push(() => balancer.close())
    signal.throwIfAborted()
    const workers = Array.from({ length: options.workers }, (_, index) =>
      workerOf(options, `worker-${index + 1}`, engine, balancer),
    )
    closing.push(async () => void (await Promise.all(workers.map((worker) => worker.end()))))
    await Promise.race([Promise.all(workers.map(({ up }) => up)), stopped.promise])
    const registered = registerDeployment(engine.admin, balancer.url, {
      clock,
      signal: ending.signal,
      replace: true,
      told: (why) => log.warn({ error: why }, 'The engine does not know the workers yet; registering again.'),
    })
    await Promise.race([registered, stopped.promise])
    return { engine, url: balancer.url, close }
  } catch (thrown) {
    await close()
    throw thrown
  } finally {
    signal.removeEventListener('abort', stop)
  }
}

function workerOf(
  { workerArgs, cwd, env, clock, told }: ClusterOptions,
  worker: string,
  engine: Engine,
  balancer: Balancer,
): WorkerProcess {
  const args = workerArgs(engine.ingress)
  let remove = (): void => {}
  return new WorkerProcess(
    { args, cwd, env, clock },
    {
      up({ url, bridge }, pid) {
        remove = balancer.add(url)
        told({ type: 'worker.up', worker, pid, bridge })
      },
      gone(how) {
        remove()
        told({ type: 'worker.gone', worker, how })
      },
      killed: () => told({ type: 'worker.killed', worker }),
      said: (line) => told({ type: 'worker.said', worker, line }),
    },
  )
}
