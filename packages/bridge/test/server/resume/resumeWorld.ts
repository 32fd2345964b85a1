import type { AgentDefinition } from '../../../../../src/actors/define/agentDefinition.ts'
import type { Client } from '../../../src/client/client.ts'
import { connect } from '../../../src/client/connect.ts'
import { messageOf } from '../../../../../src/protocol/errors.ts'
import type { LogRecord } from '../../../../../src/protocol/records.ts'
import { Bridge } from '../../../src/server/bridge.ts'
import { BridgeSession } from '../../../src/server/bridgeSession.ts'
import { limitsOf } from '../../../src/server/limits.ts'
import { createRuntime, type Runtime } from '../../../src/createRuntime.ts'
import { simulatedClock, type SimulatedClock } from '../../../../evaluation/src/testing/simulatedClock.ts'
import type { Dice } from '../../../../../test/tree/dice.ts'
import { MemoryLine, type Slowness } from './memoryWire.ts'
import { mortalStore, type Logs, type MortalStore } from './mortalStore.ts'

interface Life {
  readonly store: MortalStore
  readonly runtime: Runtime
  readonly bridge: Bridge
}

/** How slow and how narrow a world is. */
export interface WorldPlan {
  readonly slowness: Slowness
  /** Milliseconds a write takes at most. */
  readonly writeMs: number
  /** Bytes that may wait in a socket before a client counts as lagging. */
  readonly highWaterBytes: number
}

/** One process after another serves the agents of the same store, on simulated time, to clients on wires in memory. */
export class ResumeWorld {
  readonly clock: SimulatedClock = simulatedClock()
  /** Faults of the world itself, in words. */
  readonly faults: string[] = []
  readonly #plan: WorldPlan
  readonly #dice: Dice
  readonly #definition: (clock: SimulatedClock) => AgentDefinition
  readonly #lines: MemoryLine[] = []
  readonly #ends: Promise<unknown>[] = []
  #life: Life | undefined
  #ids = 0
  #left: Logs = new Map()

  constructor(plan: WorldPlan, dice: Dice, definition: (clock: SimulatedClock) => AgentDefinition) {
    this.#plan = plan
    this.#dice = dice
    this.#definition = definition
  }

  get isUp(): boolean {
    return this.#life !== undefined
  }

  /** Starts the next process. */
  async start(): Promise<void> {
    const { clock } = this
    const definition = this.#definition(clock)
    const store = await mortalStore(this.#left, { clock, dice: this.#dice, maxMs: this.#plan.writeMs })
    const newId = (): string => `q${(this.#ids += 1)}`
    const runtime = await createRuntime({ store, clock, random: this.#dice.roll, newId })
    const { highWaterBytes } = this.#plan
    const limits = limitsOf({ highWaterBytes, hardLimitBytes: highWaterBytes * 8 })
    const definitions = new Map([[definition.name, definition]])
    const bridge = new Bridge(runtime, {
      store,
      clock,
      limits,
      tokens: undefined,
      definitions,
    })
    this.#life = { store, runtime, bridge }
  }

  /** A client with a line of its own. */
  connect(retry = { baseMs: 1, maxMs: 40 }): { readonly client: Client; readonly line: MemoryLine } {
    const { clock } = this
    const line = new MemoryLine({ clock, dice: this.#dice, slowness: this.#plan.slowness }, () => {
      const life = this.#life
      if (life === undefined) return undefined
      return (socket) => {
        const session = new BridgeSession(socket, life.bridge, {
          permit: (token) => life.bridge.authenticator.permitOf(token),
          token: undefined,
          logRefusal: () => {},
        })
        life.bridge.connections.add(session)
        socket.on('close', () => life.bridge.disconnected(session))
      }
    })
    this.#lines.push(line)
    const client = connect('ws://memory/bridge', {
      webSocket: line.webSocket,
      clock,
      random: this.#dice.roll,
      retry,
    })
    return { client, line }
  }

  /** As SIGKILL: what is not written is lost, and nobody is told. */
  async kill(): Promise<void> {
    const life = this.#life
    if (life === undefined) return
    this.#life = undefined
    this.#left = await life.store.kill()
    for (const line of this.#lines) line.die()
    this.#bury(life)
  }

  /** The log of an agent as the store has it now. */
  async log(agentId: string): Promise<readonly LogRecord[]> {
    const logs = this.#life === undefined ? this.#left : await this.#life.store.logs()
    return logs.get(agentId) ?? []
  }

  /** Ends the last process in order; resolves once nothing of any is left. */
  async end(): Promise<void> {
    const life = this.#life
    this.#life = undefined
    if (life !== undefined) {
      for (const connection of life.bridge.connections) connection.leave()
      this.#bury(life)
    }
    const state = { isOver: false }
    const over = Promise.all(this.#ends).then(() => (state.isOver = true))
    for (let left = 200; !state.isOver && left > 0; left -= 1) await this.clock.advance(100)
    if (state.isOver) await over
    else this.faults.push('a runtime does not come to its end')
    await this.clock.advance(20_000)
    if (this.clock.pending > 0) this.faults.push(`${this.clock.pending} timers are left`)
  }

  #bury({ runtime, bridge }: Life): void {
    const end = runtime.close().then(
      () => bridge.close(),
      (thrown: unknown) => this.faults.push(`runtime.close(): ${messageOf(thrown)}`),
    )
    this.#ends.push(end)
  }
}
