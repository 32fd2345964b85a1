import type { AgentDefinition } from '../../../../src/actors/define/agentDefinition.ts'
import type { Clock } from '../../../../src/protocol/ports/clock.ts'
import { RuntimeError } from '../../../../src/protocol/errors.ts'
import type { Store } from '../../../../src/protocol/ports/store.ts'
import type { Agent } from '../../../../src/runtime/agents/agent.ts'
import type { BridgeRuntime } from './agentDirectory.ts'
import type { Dispatch } from './dispatch.ts'
import { FollowedTree } from './followedTree.ts'
import { PlacedAgent } from './placedAgent.ts'

interface Parts {
  readonly runtime: Pick<BridgeRuntime, 'agent'>
  readonly store: Store
  readonly clock: Clock
  readonly definitions: ReadonlyMap<string, AgentDefinition>
  newId(): string
}

interface Known {
  readonly agent: PlacedAgent
  readonly tree: FollowedTree
}

/** Agents that an engine places, for other protocols. An agent has the same object for as long as that object is in use. */
export class PlacedAgents {
  readonly #parts: Parts
  readonly #dispatch: Dispatch
  readonly #known = new Map<string, WeakRef<Known>>()
  /** Trees by agent. A tree is kept for as long as its agent. */
  readonly #trees = new WeakMap<PlacedAgent, Known>()
  readonly #gone = new FinalizationRegistry<string>((id) => {
    if (this.#known.get(id)?.deref() === undefined) this.#known.delete(id)
  })

  constructor(parts: Parts, dispatch: Dispatch) {
    this.#parts = parts
    this.#dispatch = dispatch
  }

  /** Returns an agent as the store has it now. Rejects with `AGENT_STOPPED`, and as the store does. */
  async open(id: string): Promise<PlacedAgent> {
    const { agent } = this.#known.get(id)?.deref() ?? this.#begin(id)
    await agent.wake()
    if (agent.state === 'stopped') throw new RuntimeError('AGENT_STOPPED', `Agent "${id}" has been stopped.`)
    return agent
  }

  /** Passes an agent that has started to work in this process to its tree. */
  began(agent: Agent): void {
    this.#known.get(agent.id)?.deref()?.tree.began(agent)
  }

  close(): void {
    for (const known of this.#known.values()) known.deref()?.tree.close()
    this.#known.clear()
  }

  #begin(id: string): Known {
    const { runtime, store, clock, definitions, newId } = this.#parts
    const tree = new FollowedTree({ store, clock, agent: (agentId) => runtime.agent(agentId) }, id)
    const definition = (name: string): AgentDefinition | undefined => definitions.get(name)
    const agent = new PlacedAgent(id, { tree, dispatch: this.#dispatch, definition, newId })
    const known = { agent, tree }
    this.#known.set(id, new WeakRef(known))
    this.#trees.set(agent, known)
    this.#gone.register(known, id)
    return known
  }
}
