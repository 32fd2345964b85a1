import { z } from 'zod'
import type { Callee } from '../../actors/define/agentDefinition.ts'
import { invalidState, noState } from '../../actors/parts/state/changeState.ts'
import type { StateAuthor, StatePort } from '../../actors/parts/state/stateDoor.ts'
import { lazily } from '../../protocol/lazily.ts'
import type { TreeAgent } from '../children/treeAgent.ts'

type Caller = Pick<TreeAgent, 'agentId' | 'ports'>

/** Schema of a part of a state. */
const part = lazily(() => z.unknown())

/** State of the caller, for a sub-agent that may read or change it. Changes are records in the caller's log. */
export class CallersState implements StatePort {
  readonly #caller: Caller
  readonly #agentId: string
  readonly #may: NonNullable<Callee['state']>

  constructor(caller: Caller, agentId: string, may: NonNullable<Callee['state']>) {
    this.#caller = caller
    this.#agentId = agentId
    this.#may = may
  }

  get #state(): StatePort {
    const state = this.#caller.ports?.state
    if (state === undefined) throw noState(`The caller of agent "${this.#agentId}", agent "${this.#caller.agentId}",`)
    return state
  }

  get schema(): StatePort['schema'] {
    return typeof this.#may === 'object' ? part() : this.#state.schema
  }

  get value(): unknown {
    const { value } = this.#state
    if (typeof this.#may !== 'object') return value
    const fields = this.#may.read.flatMap((name) => (Object.hasOwn(Object(value), name) ? [name] : []))
    return Object.freeze(Object.fromEntries(fields.map((name) => [name, (value as Record<string, unknown>)[name]])))
  }

  made(author: StateAuthor): { readonly value: unknown } | undefined {
    return this.#state.made(this.#asChild(author))
  }

  change(next: unknown, author: StateAuthor): unknown {
    if (this.#may === 'write') return this.#state.change(next, this.#asChild(author))
    throw invalidState(`Agent "${this.#agentId}" may read the state of its caller, and not change it.`)
  }

  patched(): never {
    throw noState(`Agent "${this.#agentId}"`)
  }

  /** Returns the author of a change as a child, because the sub-agent's calls are not the caller's. */
  #asChild({ callId = '', ...author }: StateAuthor): StateAuthor {
    return { ...author, by: 'child', childId: this.#agentId, callId: `${this.#agentId}/${callId}` }
  }
}

/** Returns the caller's state, if the caller shares it with the agent. */
export function callersState({
  agentId,
  parent,
  ownDefinition,
}: Pick<TreeAgent, 'agentId' | 'parent'> & { readonly ownDefinition: Callee['definition'] }): StatePort | undefined {
  const called = parent?.view.definition.agents.get(ownDefinition.name)
  if (parent === undefined || called?.definition !== ownDefinition || called.state === null) return undefined
  return new CallersState(parent, agentId, called.state)
}
