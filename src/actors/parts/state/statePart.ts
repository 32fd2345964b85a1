import { agentPart } from '../agentPart.ts'
import { updateStateName, updateStateTool } from './updateStateTool.ts'
import { stateOf, stateSchema, type StateOption, type StateSetting } from './stateOptions.ts'

/** The part for state beside the conversation. */
export const statePart = agentPart<StateOption<unknown>, StateSetting>({
  options: { state: stateSchema },
  settings: ({ state }, label) => ({ state: stateOf(state, label) }),
  tools: (_, { state }) => (state?.model === 'write' ? [updateStateTool(state)] : []),
  toolNames: [updateStateName],
  // The note about it is made before the turn.
  flags: (_, { state }) => (state === null || state.model === false ? {} : { turns: true }),
  staysAtHandoff: 'state',
})
