import type { AgentPorts } from '../../actors/agentPorts.ts'
import type { AgentDefinition } from '../../actors/define/agentDefinition.ts'
import type { StateAuthor, StatePort } from '../../actors/parts/state/stateDoor.ts'
import {
  invalidState,
  migrated,
  noState,
  planChange,
  planPatch,
  type PlannedChange,
} from '../../actors/parts/state/changeState.ts'
import { readState, type StateSettings } from '../../actors/parts/state/stateOptions.ts'
import type { Conversation } from '../../conversation/tree/conversation.ts'
import type { Redactor } from '../../protocol/ports/redactor.ts'
import type { PartDraft } from '../../machines/partStates.ts'
import { RuntimeError } from '../../protocol/errors.ts'
import { drafted } from '../../protocol/parts/state/drafted.ts'
import { difference, type StateOp } from '../../protocol/parts/state/patch.ts'
import type { RecordDraft } from '../../protocol/records.ts'

/** The loaded agent that the state belongs to. */
interface Owner {
  readonly agentId: string
  readonly ownDefinition: AgentDefinition
  readonly shared: { readonly sources: { readonly redactor: Redactor | undefined } }
  readonly view: { readonly conversation: Conversation }
  readonly machine: { readonly isStepping: boolean }
}

const nothing: readonly never[] = Object.freeze([])

/** The state of a loaded agent: read from its conversation, changed by records. */
export class AgentState implements StatePort {
  readonly #owner: Owner
  readonly #settings: StateSettings
  readonly #ports: Pick<AgentPorts, 'record'>

  constructor(owner: Owner, settings: StateSettings, ports: Pick<AgentPorts, 'record'>) {
    this.#owner = owner
    this.#ports = ports
    this.#settings = settings
  }

  get schema(): StateSettings['schema'] {
    return this.#settings.schema
  }

  get #tree(): Conversation['state'] {
    return this.#owner.view.conversation.state
  }

  get value(): unknown {
    const tree = this.#tree
    return tree === undefined ? this.#settings.initial : tree.value
  }

  /** `seq` of the last record that changed the state; 0 if none in this log did. */
  get version(): number {
    return this.#tree?.version ?? 0
  }

  made({ callId, n, hook }: StateAuthor): { readonly value: unknown } | undefined {
    return callId === undefined || n === undefined ? undefined : this.#tree?.madeBy(callId, n, hook)
  }

  change(next: unknown, by: StateAuthor): unknown {
    const planned = planChange(this.#settings, this.value, next, this.#owner.shared.sources.redactor)
    const drafts = this.#drafts(planned, by)
    if (drafts.length > 0) this.#ports.record(drafts)
    return this.value
  }

  /** Returns the changes that a function makes to the state, as a patch. @throws RuntimeError `STATE_INVALID`; errors of the function */
  patchBy(update: (draft: never) => unknown): readonly StateOp[] {
    const read = readState(this.schema, drafted(this.value, update))
    if (read.wrong !== undefined) throw invalidState(`The new state does not fit: ${read.wrong}.`)
    return difference(this.value, read.value)
  }

  patched(patch: readonly StateOp[], base: number | undefined, by: StateAuthor): readonly PartDraft[] {
    const place = base === undefined ? undefined : this.#tree?.conflict(base, patch)
    if (place !== undefined) {
      const what = `${place === '' ? 'The state' : `"${place}" in the state`} has changed since version ${base}; it is at ${this.version}.`
      throw new RuntimeError('STATE_CONFLICT', what)
    }
    return this.#drafts(planPatch(this.#settings, this.value, patch, this.#owner.shared.sources.redactor), by)
  }

  /** Migrates the state of an older definition to the schema of this one. Called once the agent is opened. */
  migrate(): void {
    const tree = this.#tree
    const next = tree && migrated(this.#settings, tree.value)
    if (next === undefined) return
    this.change(next.value, { by: 'migration' })
  }

  /** Adds the resulting changes of the state to records that move the head. */
  complete(drafts: readonly RecordDraft[]): void {
    const tree = this.#tree
    if (tree === undefined) return
    const isValid = (value: unknown): boolean => readState(this.#settings.schema, value).wrong === undefined
    for (const draft of drafts) {
      if (draft.type === 'revert.applied' && draft.applied)
        Object.assign(draft, tree.planned(tree.planRevert(draft.target, isValid)))
      else if (draft.type === 'graft.applied' && draft.applied)
        Object.assign(
          draft,
          tree.planned(
            tree.planCopies(
              draft.copies.map(({ from }) => from),
              isValid,
            ),
          ),
        )
    }
  }

  #drafts(planned: PlannedChange | undefined, by: StateAuthor): readonly PartDraft[] {
    if (planned === undefined) return nothing
    // The record would come too late to say what the change was made to.
    if (this.#owner.machine.isStepping)
      throw new RuntimeError(
        'STATE_INVALID',
        'The state cannot be changed from inside a listener; use agent.updateState.',
      )
    const initial = this.#tree === undefined ? { initial: this.#settings.initial } : {}
    return [{ type: 'state.patched', patch: planned.patch, ...by, ...initial }]
  }
}

/** Returns the agent's state. @throws RuntimeError `STATE_OFF` if there is none */
export function stateOfAgent(state: AgentState | undefined, agentId: string): AgentState {
  if (state === undefined) throw noState(`Agent "${agentId}"`)
  return state
}

/** Checks that the state in a log fits the definition, or can be made to. @throws RuntimeError `STATE_INVALID` */
export function checkState({ state }: AgentDefinition, conversation: Conversation): void {
  if (state !== null && conversation.state !== undefined) migrated(state, conversation.state.value)
}
