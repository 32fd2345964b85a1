import { setTimeout as pause } from 'node:timers/promises'
import type { Balancer } from '../../../../cli/src/cluster/balancer.ts'
import type { PostgresServer } from '../../../../postgres/test/server.ts'
import type { Engine } from '../engine.ts'
import type { Disk } from './disk.ts'
import type { Relay } from './relay.ts'
import type { Switchboard } from './switchboard.ts'
import type { WorkerProcess } from './workerProcess.ts'

/** Targets of a blow. Requests go to the first worker, until the blow or a balancer sends them to the second. */
export interface Lab {
  readonly engine: Engine
  readonly first: WorkerProcess
  readonly second: WorkerProcess
  readonly board: Switchboard
  /** Between the engine and the workers in place of the switchboard, where the blow says so. */
  readonly balancer: Balancer
  /** Throws where there is no PostgreSQL. */
  readonly database: PostgresServer
  /** Between the first worker and the database, where the blow says so. */
  readonly relay: Relay
  readonly disk: Disk
  /** One more, that is in nobody's way. */
  another(): WorkerProcess
  /** How long what is wrong lasts, in milliseconds; at least until somebody has met it. */
  readonly lastMs: number
  /** Has agents go on that are held at a place, and people decide. */
  goOn(): void
}

/** Final step once all is answered, by the one who was struck. */
export type Aftermath = () => Promise<void>

interface Blow {
  /** Address that the engine knows as the workers'. Default: the switchboard. */
  readonly front?: 'balancer'
  readonly needs?: 'database' | 'relay' | 'disk'
  /** True if the second worker has other code. */
  readonly isOther?: boolean
  strike(lab: Lab): Promise<Aftermath | void>
}

const secondUp = async ({ balancer, second }: Lab): Promise<void> => void balancer.add(await second.url())

async function freeze({ first, lastMs }: Lab): Promise<Aftermath> {
  first.signal('SIGSTOP')
  const until = pause(lastMs)
  return async () => {
    await until
    first.signal('SIGCONT')
    await first.rests()
  }
}

async function restart(lab: Lab, how: 'orderly' | 'crashed'): Promise<void> {
  await secondUp(lab)
  await lab.database.end(how)
  lab.goOn()
  await pause(lab.lastMs)
  await lab.database.begin()
}

/** Blows, by name. */
export const allBlows = {
  'kill worker': {
    async strike({ first, second, board }) {
      await first.kill()
      board.switchTo(await second.port())
    },
  },
  'freeze worker': {
    async strike(lab) {
      const thaw = await freeze(lab)
      lab.board.switchTo(await lab.second.port())
      return thaw
    },
  },
  'kill engine': {
    async strike({ engine, board, second }) {
      await engine.kill()
      await engine.begin()
      // What was held there is let go of, and would be held again.
      board.switchTo(await second.port())
    },
  },
  'kill workers': {
    async strike({ first, second, board, another }) {
      await Promise.all([first.kill(), second.kill()])
      board.switchTo(await another().port())
    },
  },
  'freeze workers': {
    async strike({ first, second, board, lastMs, goOn }) {
      const given = board.left()
      board.divertTo(await second.port())
      for (const worker of [first, second]) worker.signal('SIGSTOP')
      await Promise.all([given, pause(lastMs)])
      for (const worker of [first, second]) worker.signal('SIGCONT')
      goOn()
      return () => first.rests()
    },
  },
  // Both are there, and work: only the way from the engine to the first is gone.
  'part worker': {
    async strike({ first, second, board, goOn }) {
      board.loseTo(await second.port())
      return async () => {
        goOn()
        await first.rests()
      }
    },
  },
  'freeze engine': {
    async strike({ engine, first, lastMs, goOn }) {
      await engine.signal('SIGSTOP')
      goOn()
      await Promise.all([first.rests(), pause(lastMs)])
      await engine.signal('SIGCONT')
    },
  },
  'freeze database': {
    front: 'balancer',
    needs: 'database',
    async strike(lab) {
      await secondUp(lab)
      await lab.database.signal('SIGSTOP')
      lab.goOn()
      await pause(lab.lastMs)
      await lab.database.signal('SIGCONT')
    },
  },
  // Only the pings of the engine tell that it does not answer.
  'freeze, pings': {
    async strike(lab) {
      lab.board.divertTo(await lab.second.port())
      return await freeze(lab)
    },
  },
  // Pings of the engine end at the balancer, which looks for itself.
  'freeze, health': {
    front: 'balancer',
    async strike(lab) {
      await secondUp(lab)
      return await freeze(lab)
    },
  },
  'stop database': { front: 'balancer', needs: 'database', strike: (lab) => restart(lab, 'orderly') },
  'crash database': { front: 'balancer', needs: 'database', strike: (lab) => restart(lab, 'crashed') },
  // The engine still reaches the worker.
  'stall network': {
    front: 'balancer',
    needs: 'relay',
    async strike(lab) {
      await secondUp(lab)
      lab.relay.stall()
      lab.goOn()
      await Promise.all([lab.relay.tried(), pause(lab.lastMs)])
      lab.relay.heal()
    },
  },
  'cut network': {
    front: 'balancer',
    needs: 'relay',
    async strike(lab) {
      await secondUp(lab)
      lab.relay.refuse()
      lab.goOn()
      await Promise.all([lab.relay.tried(), pause(lab.lastMs)])
      lab.relay.heal()
    },
  },
  // It does not come back before all is answered.
  'lose network': {
    front: 'balancer',
    needs: 'relay',
    async strike(lab) {
      await secondUp(lab)
      lab.relay.stall()
      lab.goOn()
      return async () => {
        lab.relay.heal()
        await lab.first.rests()
      }
    },
  },
  'disk full': {
    front: 'balancer',
    needs: 'disk',
    async strike(lab) {
      await secondUp(lab)
      await lab.disk.fill()
      lab.goOn()
      await Promise.all([lab.disk.refused(), pause(lab.lastMs)])
      await lab.disk.free()
    },
  },
  'other code': {
    front: 'balancer',
    isOther: true,
    async strike(lab) {
      await secondUp(lab)
      await lab.first.kill()
    },
  },
} satisfies Readonly<Record<string, Blow>>

export type BlowName = keyof typeof allBlows

export const blowOf = (name: BlowName): Blow => allBlows[name]

/** Somebody dies or freezes, and is replaced at once. */
export const deaths = ['kill worker', 'freeze worker', 'kill engine'] as const
/** So do all of a kind, of which nobody else has the work; or somebody lives on whom others take for dead. */
export const losses = ['kill workers', 'freeze workers', 'part worker', 'freeze engine', 'freeze database'] as const
/** Something is wrong for a while, or others have to notice it. */
export const troubles = [
  'freeze, pings',
  'freeze, health',
  'stop database',
  'crash database',
  'stall network',
  'cut network',
  'lose network',
  'disk full',
  'other code',
] as const
