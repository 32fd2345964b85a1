import type { AgentPorts, FindPorts } from '../../actors/agentPorts.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import type { RecordDraft } from '../../protocol/records.ts'
import type { AgentHost } from './agentHost.ts'
import type { ActorRefFrom } from 'xstate'
import { openChild, watchChild } from '../../actors/calls/openChild.ts'
import { sleep } from '../../actors/timing/sleep.ts'
import { agentMachine } from '../../machines/agentMachine.ts'
import type { SubAgentLogic } from '../../machines/agentSetup.ts'
import { supervisorMachine } from '../../machines/supervisorMachine.ts'
import type { Clock } from '../../protocol/ports/clock.ts'
import type { Interpreter } from '../interpreter/interpreter.ts'
import { askHook } from '../../actors/calls/askHook.ts'
import { compactTrunk } from '../../actors/brakes/compaction/compactTrunk.ts'
import { consultPolicies } from '../../actors/brakes/policies/consultPolicies.ts'
import { drains } from '../../actors/brakes/drains.ts'
import { prepareTurn } from '../../actors/turn/prepareTurn.ts'
import { runTool } from '../../actors/calls/runTool.ts'
import { settle } from '../../actors/turn/settle.ts'
import { streamReply } from '../../actors/turn/streamReply.ts'
import { undoCall } from '../../actors/calls/undoCall.ts'

/** Hosts of the loaded agents of a runtime, until their logs are released. */
export class Hosts {
  readonly #hosts = new Map<string, AgentHost>()
  readonly #releasing = new WeakMap<AgentHost, Promise<void>>()
  readonly #leave: (host: AgentHost) => void

  /** Makes an empty collection. `leave` is called when a host is removed. */
  constructor(leave: (host: AgentHost) => void) {
    this.#leave = leave
  }

  get(agentId: string): AgentHost | undefined {
    return this.#hosts.get(agentId)
  }

  readonly ports = (agentId: string): AgentPorts => this.#hosts.get(agentId)!.ports

  /** Handles the records of one step of a loaded agent. */
  record(agentId: string, records: readonly RecordDraft[]): void {
    this.#hosts.get(agentId)!.record(records)
  }

  /** Adds a host. @throws RuntimeError `AGENT_EXISTS`: two logs of one id are possible only in two stores */
  add(host: AgentHost): void {
    const { agentId } = host
    if (this.#hosts.has(agentId) && this.#hosts.get(agentId)?.store !== host.store) throw isRunning(agentId)
    this.#hosts.set(agentId, host)
  }

  /** Checks that no host has the id. @throws RuntimeError `AGENT_EXISTS` */
  checkFree(agentId: string): void {
    if (this.#hosts.has(agentId)) throw isRunning(agentId)
  }

  /** Resolves once the current release of the agent's log is complete. */
  async released(agentId: string): Promise<void> {
    const host = this.#hosts.get(agentId)
    if (host !== undefined) await this.#releasing.get(host)?.catch(() => {})
  }

  /** Writes the rest of a log and releases it, only once. Rejects with the store's errors. */
  release(host: AgentHost): Promise<void> {
    if (this.#hosts.get(host.agentId) !== host) return this.#releasing.get(host)?.catch(() => {}) ?? Promise.resolve()
    const release = this.#releasing.get(host) ?? this.#release(host)
    this.#releasing.set(host, release)
    return release
  }

  async #release(host: AgentHost): Promise<void> {
    const { agentId } = host
    this.#leave(host)
    try {
      await host.release()
    } finally {
      if (this.#hosts.get(agentId) === host) this.#hosts.delete(agentId)
      this.#releasing.delete(host)
    }
  }

  /** Releases all hosts. Failures are ignored. */
  async releaseAll(): Promise<void> {
    await Promise.allSettled([...this.#hosts.values()].map((host) => this.release(host)))
  }
}

const isRunning = (agentId: string): RuntimeError =>
  new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" is running already.`)

/** Agents that are being spawned, resumed or opened, each by one call at a time. */
export class Openings {
  readonly #openings = new Map<string, Promise<unknown>>()

  /** Settles with the call that opens the agent, and never rejects; `undefined` if there is no such call. */
  of(agentId: string): Promise<unknown> | undefined {
    return this.#openings.get(agentId)
  }

  /** Checks that no call opens the agent. @throws RuntimeError `AGENT_EXISTS` */
  checkFree(agentId: string): void {
    if (this.#openings.has(agentId))
      throw new RuntimeError('AGENT_EXISTS', `Agent "${agentId}" is being started by another call.`)
  }

  /** Opens an agent while no other call does. */
  alone<T>(agentId: string, open: () => Promise<T>): Promise<T> {
    const opening = open().finally(() => this.#openings.delete(agentId))
    const settled = opening.catch(() => {})
    this.#openings.set(agentId, settled)
    return opening
  }
}

/** Parts of a runtime that its machines use. */
interface Reach {
  readonly clock: Clock
  readonly interpreter: Interpreter
  readonly hosts: Hosts
  /** Notes the actor that runs an agent. */
  attach(agentId: string, actor: ActorRefFrom<typeof agentMachine>): void
}

/** Returns the machine of all agents of a runtime, made once because every `provide` rebuilds the chart. */
export function preparedMachine({ clock, interpreter, hosts, attach }: Reach): typeof agentMachine {
  const supervisor = interpreter.prepare(
    supervisorMachine.provide({
      actors: { openChild: openChild(hosts.ports), watchChild: watchChild(hosts.ports), sleep: sleep(clock) },
    }),
  )
  const machine = interpreter.prepare(
    agentMachine.provide({
      actors: {
        ...agentEffects(hosts.ports, clock),
        subAgent: supervisor as unknown as SubAgentLogic,
      },
      actions: {
        attach: ({ context, self }) => attach(context.agentId, self as ActorRefFrom<typeof agentMachine>),
        record: ({ context }: { context: { agentId: string } }, records: readonly RecordDraft[]) =>
          hosts.record(context.agentId, records),
      },
    }),
  )
  // The two machines contain each other.
  supervisor.implementations.actors['agent'] = machine
  return machine
}

/** Returns the effects of agents by their names in `agentMachine`, except sub-agents, which are machines. */
export const agentEffects = (find: FindPorts, clock: Clock) => ({
  prepareTurn: prepareTurn(find),
  streamReply: streamReply(find),
  askHook: askHook(find),
  runTool: runTool(find),
  settle: settle(find),
  compactTrunk: compactTrunk(find),
  sleep: sleep(clock),
  undoCall: undoCall(find),
  ...drains(find),
  consultPolicies: consultPolicies(find),
})
