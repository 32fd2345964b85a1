import { RuntimeError } from '../../../protocol/errors.ts'
import type { ApplyCommand } from '../applyCommand.ts'
import { noState } from './changeState.ts'

/** Applies a patch by people, or by the application on their behalf. */
export const applyState: ApplyCommand<'agent.state'> = ({ patch, base }, { agentId, definition, state, id }) => {
  const agent = `Agent "${agentId}"`
  if (definition.state === null) throw noState(agent)
  if (state !== undefined) return state.patched(patch, base, { by: 'person', requestId: id })
  throw new RuntimeError('STATE_INVALID', `${agent} is not loaded, so its state is not known here: call wake() first.`)
}
