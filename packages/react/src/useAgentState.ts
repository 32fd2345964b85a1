import { useSyncExternalStore } from 'react'
import type { AgentDefinition } from '../../../src/actors/define/agentDefinition.ts'
import { useStores } from './agentProvider.ts'

/** Type of a definition's state. */
type StateOf<D extends AgentDefinition> =
  D extends AgentDefinition<unknown, never, unknown, infer State> ? State : never

/** The state, `undefined` while it is loading or if there is none, and the function that changes it. */
export type UsedState<State> = readonly [
  state: State | undefined,
  update: (update: (draft: State) => State | void) => Promise<State>,
]

/**
 * The state that an agent has beside its conversation, and a function that changes it: a draft, or by returning another state. A change is seen at
 * once, and taken back if the server refuses it; if somebody else has changed the same meanwhile, its function is called again with the newest state.
 * It needs the right `control`, and seeing the state `see.all`.
 *
 * @throws RuntimeError `PROVIDER_MISSING`; `update` rejects with `STATE_CONFLICT`, `STATE_INVALID`, `STATE_OFF`, `BRIDGE_FORBIDDEN`
 *
 * @example
 * ```ts no-run
 * import { createElement } from 'react'
 * import { useAgentState } from 'escapement/react'
 *
 * const schema = z.object({ title: z.string() })
 * const planner = defineAgent({ name: 'planner', model, state: { schema, initial: { title: '' } } })
 *
 * function Title({ id }: { id: string }) {
 *   const [plan, setPlan] = useAgentState<typeof planner>(id)
 *   const clear = () => void setPlan((draft) => ({ ...draft, title: '' }))
 *   return createElement('button', { onClick: clear }, plan?.title ?? '…')
 * }
 * ```
 */
export function useAgentState<D extends AgentDefinition>(id: string): UsedState<StateOf<D>> {
  const { state } = useStores('useAgentState').agent(id)
  const shown = useSyncExternalStore(state.subscribe, state.getSnapshot, nothing)
  return [shown, state.update] as unknown as UsedState<StateOf<D>>
}

const nothing = (): undefined => undefined
