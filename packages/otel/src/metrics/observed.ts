import type { GatewayFigures, WorkerFigures } from './figures.ts'
import type { Instruments } from './instruments.ts'

type End = () => void

export const observeWorker = (instruments: Instruments, worker: { figures(): WorkerFigures }): End =>
  instruments.observe(
    [
      'escapement.worker.agents',
      'escapement.worker.agents_loaded',
      'escapement.worker.attempts',
      'escapement.worker.queue',
      'escapement.worker.openings',
      'escapement.store.lease.age',
      'escapement.store.appends',
      'escapement.store.queue',
    ],
    (report) => {
      const { agents, loaded, attempts, queue: runs, openings, store } = worker.figures()
      for (const [state, count] of Object.entries(agents))
        report('escapement.worker.agents', count, { 'escapement.agent.state': state })
      report('escapement.worker.agents_loaded', loaded)
      report('escapement.worker.attempts', attempts)
      report('escapement.worker.queue', runs)
      for (const [how, count] of Object.entries(openings))
        report('escapement.worker.openings', count, { 'escapement.opening': how })
      const { leaseAgeMs, appends, queue } = store
      if (leaseAgeMs !== undefined) report('escapement.store.lease.age', leaseAgeMs / 1_000)
      if (appends !== undefined) report('escapement.store.appends', appends)
      if (queue !== undefined) report('escapement.store.queue', queue)
    },
  )

export const observeGateway = (instruments: Instruments, gateway: { figures(): GatewayFigures }): End =>
  instruments.observe(
    [
      'escapement.gateway.clients',
      'escapement.gateway.looks',
      'escapement.gateway.refusals',
      'escapement.gateway.commands',
    ],
    (report) => {
      const { clients, looks, refusals, commands } = gateway.figures()
      report('escapement.gateway.clients', clients)
      report('escapement.gateway.looks', looks)
      report('escapement.gateway.commands', commands)
      for (const [kind, count] of Object.entries(refusals))
        report('escapement.gateway.refusals', count, { 'escapement.refusal.kind': kind })
    },
  )

/** `clients`: number of clients connected to the bridge of a worker. */
export const observeProgram = (
  instruments: Instruments,
  program: { isReady(): boolean; clients?(): number | undefined },
): End => {
  let before = performance.eventLoopUtilization()
  return instruments.observe(
    [
      'escapement.ready',
      'escapement.worker.clients',
      'process.cpu.time',
      'process.memory.usage',
      'nodejs.eventloop.utilization',
    ],
    (report) => {
      report('escapement.ready', program.isReady() ? 1 : 0)
      const count = program.clients?.()
      if (count !== undefined) report('escapement.worker.clients', count)
      const { user, system } = process.cpuUsage()
      report('process.cpu.time', user / 1e6, { 'cpu.mode': 'user' })
      report('process.cpu.time', system / 1e6, { 'cpu.mode': 'system' })
      report('process.memory.usage', process.memoryUsage.rss())
      const now = performance.eventLoopUtilization()
      report('nodejs.eventloop.utilization', performance.eventLoopUtilization(now, before).utilization)
      before = now
    },
  )
}
